"""HTTP between clients and the gateway: the server, its replies, the checks of Host and Origin, start and stop."""
