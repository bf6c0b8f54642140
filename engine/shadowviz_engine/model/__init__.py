"""DeepSeek-V4 architecture in torch over paged state."""
