"""Owns the conformance kit: it runs the cases of `conformance/` against this library or any gateway.

`suite_reader` reads the cases. `json_paths_and_exact_numbers` and `case_outcome_checks` check documents.
`independent_stream_reader` joins the frames of streams. `client_history` plays the client of a conversation.
`library_runner` runs cases against this library.
`gateway_runner` and `scripted_upstream` run cases against a gateway over the network; they are imported late, and no
other module here may open a socket. `case_verdicts` and `report_formats` make the report.
"""
