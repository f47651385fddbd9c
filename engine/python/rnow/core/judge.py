"""A model as judge."""


async def llm_judge(prompt, **options):
    """Not here yet: raises, so that the row has no verdict instead of a score that nobody gave."""
    raise NotImplementedError(
        "llm_judge is not here yet: ask the model over HTTP in the reward itself, "
        "with a key from args.secrets"
    )
