"""How fast mcp_sansio is beside mcp, the official SDK, and beside the JSON parser alone: ``python -m benchmarks``."""
