"""What clients may ask beside an exchange: the table of addresses, model lists, token counts, stored responses,
pages."""
