"""What Go's standard library does with texts, times and addresses, which Kubernetes' answers show.

=============  =========================================================================================================
quoting        ``%q``
printing       ``%v``
conversions    ``strconv``
sorting        ``sort.Slice``
times          ``time``
network        ``net/netip``
urls           ``net/url``
regex          ``regexp``, run by RE2
regex_syntax   its grammar, ``regexp/syntax``
=============  =========================================================================================================
"""
