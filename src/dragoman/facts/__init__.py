"""Facts about models and hosts, as rows of data: which model takes which setting, where a host differs."""
