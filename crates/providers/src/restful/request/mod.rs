//! Requests: the settings of the provider, the levels of headers and queries, credentials, retries.
