"""Owns the judgement of cases without a network: no module here opens a socket or reads a clock.

`suite_reader` reads the cases. `json_paths_and_exact_numbers` and `case_outcome_checks` check documents.
`independent_stream_reader` joins the frames of streams. `client_history` plays the client of a conversation.
`library_runner` runs cases against this library. `verdicts_against_expected_failures` and `report_formats` make the
report.
"""
