"""From text to nodes, and back.

=============  =========================================================================================================
source         positions, lines and carets
lexer          tokens
ast            nodes
parser         from tokens to nodes
macros         what macros stand for
unparsing      from nodes to text
trampoline     recursion as deep as cel-go's
=============  =========================================================================================================
"""
