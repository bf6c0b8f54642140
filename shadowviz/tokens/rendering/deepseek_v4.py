"""Literal strings of the DeepSeek-V4 message format, a wire format: the model was trained on exactly these.

Source: `tokenizers/deepseek_v4_encoding.py` of vLLM 0.33, with which `tests/tokens/test_encoding_peers.py` compares.
"""

from typing import Final, Literal

Effort = Literal["none", "low", "high", "max"]
Task = Literal["action", "query", "authority", "domain", "title", "read_url"]

BOS: Final = "<｜begin▁of▁sentence｜>"
EOS: Final = "<｜end▁of▁sentence｜>"
USER: Final = "<｜User｜>"
ASSISTANT: Final = "<｜Assistant｜>"
LATEST_REMINDER: Final = "<｜latest_reminder｜>"
THINK_START: Final = "<think>"
THINK_STOP: Final = "</think>"
DSML: Final = "｜DSML｜"

TOOL_RESULT_START: Final = "<tool_result>"
TOOL_RESULT_STOP: Final = "</tool_result>"
CALLS_START: Final = f"<{DSML}tool_calls>"
CALLS_STOP: Final = f"</{DSML}tool_calls>"
INVOKE_START: Final = f'<{DSML}invoke name="'
INVOKE_STOP: Final = f"</{DSML}invoke>"
PARAMETER_START: Final = f'<{DSML}parameter name="'
PARAMETER_STOP: Final = f"</{DSML}parameter>"

TASK_MARKERS: Final[dict[Task, str]] = {
    "action": "<｜action｜>",
    "query": "<｜query｜>",
    "authority": "<｜authority｜>",
    "domain": "<｜domain｜>",
    "title": "<｜title｜>",
    "read_url": "<｜read_url｜>",
}

EFFORT_TEXT: Final[dict[Effort, str]] = {
    "none": "",
    "low": "",
    "high": (
        "Reasoning Effort: Absolute maximum with no shortcuts permitted.\n"
        "You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root"
        " cause, rigorously stress-testing your logic against all potential paths, edge cases, and adversarial"
        " scenarios.\n"
        "Explicitly write out your entire deliberation process, documenting every intermediate step, considered"
        " alternative, and rejected hypothesis to ensure absolutely no assumption is left unchecked.\n\n"
    ),
    "max": (
        "Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.\n"
        "You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively decompose"
        " the problem into its most fundamental components, trace every causal chain to its root, and resolve the"
        " underlying cause rather than any surface symptom.\n"
        "Do not stop reasoning until you have independently verified the solution from multiple angles and are certain"
        " that no assumption remains unchecked and no error remains undiscovered.\n\n"
    ),
}

RESPONSE_FORMAT_HEAD: Final = "## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n"

TOOLS_HEAD: Final = f"""## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by writing a \
"{CALLS_START}" block like the following:

{CALLS_START}
{INVOKE_START}$TOOL_NAME">
{PARAMETER_START}$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE{PARAMETER_STOP}
...
{INVOKE_STOP}
{INVOKE_START}$TOOL_NAME2">
...
{INVOKE_STOP}
{CALLS_STOP}

String parameters should be specified as is and set `string="true"`. For all other types (numbers, booleans, arrays, \
objects), pass the value in JSON format and set `string="false"`.

If thinking_mode is enabled (triggered by {THINK_START}), you MUST output your complete reasoning inside \
{THINK_START}...{THINK_STOP} BEFORE any tool calls or final response.

Otherwise, output directly after {THINK_STOP} with tool calls or final response.

### Available Tool Schemas

"""

TOOLS_FOOT: Final = """

You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
"""
