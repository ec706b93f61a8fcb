"""From text to nodes, and back.

=============  =========================================================================================================
source         positions, lines and carets
lexer          tokens
ast            nodes
parser         from tokens to nodes
macros         what macros stand for
unparsing      from nodes to text
grammar        the grammar once more, as a network: for what does not follow it
prediction     how ANTLR finds its way through the network
recovery       every syntax error, as ANTLR goes on after each
trampoline     recursion as deep as cel-go's
=============  =========================================================================================================
"""
