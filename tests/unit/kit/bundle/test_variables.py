"""The environment variables that code reads."""

from __future__ import annotations

import ast

import pytest

from mcpframe.kit.bundle.code.variables import asked_of_visitors, variables_in


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ('os.environ["A"]', {"A"}),
        ('os.environ.get("A", "x"), os.getenv("B"), getenv("C"), os.environ.setdefault("D", "")', {"A", "B", "C", "D"}),
        ("os.getenv(name), os.environ[name]", set()),
        ('@click.option("--key", envvar="A")\ndef main(key): ...', {"A"}),
        ('def main(key: str = typer.Option("", envvar=["A", "B"])): ...', {"A", "B"}),
        ("class S(BaseSettings):\n    key: str\n    url: str = 'x'", {"KEY", "URL"}),
        (
            (
                "class S(pydantic_settings.BaseSettings):\n"
                "    model_config = SettingsConfigDict(env_prefix='W_')\n    key: str"
            ),
            {"W_KEY"},
        ),
        ("class S(BaseSettings):\n    class Config:\n        env_prefix = 'W_'\n    key: str", {"W_KEY"}),
        (
            (
                "class S(BaseSettings):\n    a: str = Field(alias='A_KEY')\n"
                "    b: str = Field(validation_alias=AliasChoices('B', 'C'))"
            ),
            {"A_KEY", "B", "C"},
        ),
        ("class S(BaseModel):\n    key: str", set()),
    ],
)
def test_variables_are_found_where_libraries_read_them(code: str, names: set[str]) -> None:
    assert variables_in(ast.parse(code)) == names


def test_what_a_person_has_to_enter_is_known_by_its_name() -> None:
    names = ["JIRA_URL", "JIRA_API_TOKEN", "LOG_LEVEL", "HTTPS_PROXY", "USER", "MCP_SERVER_HOST", "KEYBOARD"]
    assert asked_of_visitors(names) == ("JIRA_URL", "JIRA_API_TOKEN")
    assert asked_of_visitors(["BASE_URL", "LOG_LEVEL"]) == ()
