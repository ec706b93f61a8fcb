"""From nodes to types: what Kubernetes lets an expression say.

=============  =========================================================================================================
types          static types
declarations   functions, by their overloads
environment    which version and gates
messages       what can be constructed by name
checker        a type for every node
validators     literals that cannot be right
=============  =========================================================================================================
"""
