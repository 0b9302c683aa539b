"""The project's interpreter: child runs and hot reload, handed to a transaction as verifiers."""
