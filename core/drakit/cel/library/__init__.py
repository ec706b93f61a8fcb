"""The functions of the dialect, and the types of Kubernetes that they are about.

=============  =========================================================================================================
functions      every implementation, by overload
operators      arithmetic, order, membership, size
strings        of strings
lists          of lists and sets
formatting     ``string.format()``
formats        ``format.*``
bounds         how long texts and lists may become
quantities     ``quantity()``
semver         ``semver()``
go_names       what cel-go calls the types
=============  =========================================================================================================
"""
