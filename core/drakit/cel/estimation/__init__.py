"""What an expression costs at most, found before it is evaluated.

=============  =========================================================================================================
sizes          unsigned numbers that stop at the greatest
paths          how large what comes from a device can be
estimators     of each function
estimate       of an expression
=============  =========================================================================================================
"""
