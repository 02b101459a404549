"""All endpoints except generation: the table of addresses, model lists, token counts, stored responses, pages."""
