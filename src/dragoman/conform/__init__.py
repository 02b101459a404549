"""The conformance kit: cases as data (`conformance/` in the project), judged against the library or any host.

`suite` reads the cases, `look` and `facts` judge documents, `folding` puts streams together, `echo` plays the client
in a conversation, `library` asks this library, `host` and `upstream` ask a gateway over the network (imported late:
nothing else here may open a socket), `report` prints.
"""
