"""The gateway: any client in, any upstream out. A thin shell of I/O around the library."""
