"""HTTP between clients and the gateway: the server, its replies, who may connect, how the gateway starts."""
