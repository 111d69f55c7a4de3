"""Calls and their answers over ports: ids, deadlines, and which port counts."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from typing import Any

import pytest

from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import Form, to_hub, to_proxy
from mcpframe.hub.core.errors import InvalidArguments, RequestTimedOut, TabBusy, TabClosed, TabNotFound
from mcpframe.hub.core.messages import CallCancelled, ToolAnswer, ToolCall, ToolList, ToolProgress
from mcpframe.hub.core.transport import PortTransport
from tests.support.fake_hub import FakeClock, FakePort, answer, text_result, tool
from tests.support.settling import settled

FIVE = text_result("5")
ADD = ToolCall("", "add", {"a": 2})


class Rig:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.transport = PortTransport(self.clock)
        self.heard: list[tuple[int, ToolList]] = []
        self.ended: list[int] = []
        self.transport.on_list(lambda tab, listed: self.heard.append((tab, listed)))

    def port(self, tab: int = 1, form: Form = "json-rpc") -> FakePort:
        port = FakePort(self.transport, tab, "https://a.example/", form)
        self.transport.on_disconnect(tab, lambda: self.ended.append(tab))
        return port

    def send(self, tab: int = 1, seconds: float = 10, call: ToolCall = ADD, **more: Any) -> asyncio.Task[ToolAnswer]:
        return asyncio.create_task(self.transport.send_request(tab, call, seconds, **more))


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.mark.parametrize("form", ["json-rpc", "extension"])
async def test_a_call_is_answered_in_the_form_of_its_proxy(rig: Rig, form: Form) -> None:
    port = rig.port(form=form).registers(tool("add"))
    assert [tab for tab, _ in rig.heard] == [1]
    sending = rig.send()
    await settled()
    assert port.posted == [to_proxy(ToolCall(port.calls[0].id, "add", {"a": 2}), form)]
    port.answers(FIVE)
    assert (await sending).result == FIVE
    assert rig.transport.pending == rig.clock.pending == 0


async def test_ids_are_uuids_and_each_is_new(rig: Rig) -> None:
    port = rig.port()
    sending = [rig.send(), rig.send()]
    await settled()
    ids = [call.id for call in port.calls]
    assert len({uuid.UUID(each) for each in ids}) == 2
    port.answers(text_result("first"), 0)
    port.answers(text_result("second"), 1)
    assert [(await each).result for each in sending] == [text_result("first"), text_result("second")]


async def test_an_answer_that_is_late_double_unknown_or_of_another_tab_is_ignored(rig: Rig) -> None:
    port, other = rig.port(), rig.port(2)
    sending = rig.send()
    await settled()
    other.says(answer(port.calls[0].id, text_result("mine, says another tab")))
    port.says(answer("unknown", FIVE))
    await settled()
    assert not sending.done()
    port.answers(FIVE)
    port.answers(text_result("again"))
    assert (await sending).result == FIVE
    late = rig.send()
    await rig.clock.pass_(10)
    with pytest.raises(RequestTimedOut):
        await late
    port.answers(FIVE)
    assert rig.transport.pending == 0


async def test_a_call_ends_after_its_time_and_its_page_is_told(rig: Rig) -> None:
    port = rig.port()
    sending = rig.send()
    await rig.clock.pass_(9.9)
    assert not sending.done()
    await rig.clock.pass_(0.1)
    with pytest.raises(RequestTimedOut) as caught:
        await sending
    assert caught.value.code == -32001
    assert caught.value.data == {"reason": "RequestTimeout", "tab": 1, "mayHaveRun": True}
    assert isinstance(port.heard[-1], CallCancelled)
    assert port.heard[-1].id == port.calls[0].id


async def test_progress_begins_the_time_anew_but_not_for_ever(rig: Rig) -> None:
    port = rig.port()
    heard: list[ToolProgress] = []
    sending = rig.send(on_progress=heard.append)
    await settled()
    assert port.calls[0].progress
    for step in range(59):
        await rig.clock.pass_(9.9)
        port.says(ToolProgress(port.calls[0].id, step, 100, "on"))
    assert not sending.done()
    assert len(heard) == 59
    await rig.clock.pass_(9.9)
    port.says(ToolProgress(port.calls[0].id, 60))
    await rig.clock.pass_(9.9)
    with pytest.raises(RequestTimedOut):
        await sending
    assert rig.clock.seconds - 1000 == pytest.approx(603.9)


async def test_progress_of_others_is_ignored(rig: Rig) -> None:
    port, other = rig.port(), rig.port(2)
    heard: list[ToolProgress] = []
    wanted, unwanted = rig.send(on_progress=heard.append), rig.send()
    await settled()
    other.says(ToolProgress(port.calls[0].id, 1))
    port.says(ToolProgress(port.calls[1].id, 1))
    assert not port.calls[1].progress
    assert heard == []
    for number, sending in enumerate((wanted, unwanted)):
        port.answers(FIVE, number)
        await sending


@pytest.mark.parametrize("form", ["json-rpc", "extension"])
async def test_a_call_that_is_cancelled_is_cancelled_in_its_page(rig: Rig, form: Form) -> None:
    port = rig.port(form=form).registers()
    sending = rig.send()
    await settled()
    sending.cancel()
    await asyncio.wait({sending})
    assert isinstance(port.heard[-1], CallCancelled)
    assert port.heard[-1].id == port.calls[0].id
    assert rig.transport.pending == rig.clock.pending == 0


async def test_a_tab_that_ends_fails_its_own_calls_at_once(rig: Rig) -> None:
    port, other = rig.port(), rig.port(2)
    failing, going_on = rig.send(), rig.send(2)
    await settled()
    port.ends()
    with pytest.raises(TabClosed) as caught:
        await failing
    assert caught.value.data == {"reason": "TabClosed", "tab": 1, "mayHaveRun": True}
    assert rig.ended == [1]
    other.answers(FIVE)
    assert (await going_on).result == FIVE
    with pytest.raises(TabNotFound) as lost:
        await rig.send()
    assert (lost.value.code, lost.value.data) == (-32001, {"reason": "TabNotFound", "tab": 1, "mayHaveRun": False})


async def test_a_new_port_takes_the_place_of_the_old_one_whose_late_end_changes_nothing(rig: Rig) -> None:
    old = rig.port()
    failing = rig.send()
    await settled()
    new = rig.port()
    assert not old.open
    with pytest.raises(TabClosed):
        await failing
    assert rig.ended == [1]
    old.answers(FIVE)
    old.registers(tool("old"))
    old.ends()
    assert rig.heard == []
    assert rig.ended == [1]
    assert new.open
    sending = rig.send()
    await settled()
    new.answers(FIVE)
    assert (await sending).result == FIVE


async def test_what_has_no_form_in_json_is_an_error_of_the_caller(rig: Rig) -> None:
    port = rig.port()
    deep: Any = 1
    for _ in range(limits.HUB_MESSAGE_NESTING):
        deep = [deep]
    large = "\u00e9" * (limits.HUB_MESSAGE_BYTES // 2)
    no_json = ((object(), "JSON"), (float("nan"), "JSON"), ([float("inf")], "JSON"))
    for value, reason in (*no_json, (large, "too large"), (deep, "nested"), ("\ud800", "ill-formed")):
        with pytest.raises(InvalidArguments, match=reason) as caught:
            await rig.send(call=ToolCall("", "add", {"a": value}))
        assert (caught.value.code, caught.value.data) == (-32602, {"reason": "InvalidArguments"})
    with pytest.raises(InvalidArguments, match="__proto__"):
        await rig.send(call=ToolCall("", "add", {"__proto__": {}}))
    assert port.posted == []
    assert rig.transport.pending == 0
    port.broken = True
    with pytest.raises(TabNotFound):
        await rig.send()
    assert rig.transport.pending == 0


@pytest.mark.parametrize("form", ["json-rpc", "extension"])
async def test_an_answer_that_cannot_be_read_is_a_failure_of_its_call(rig: Rig, form: Form) -> None:
    port, other = rig.port(form=form).registers(), rig.port(2)
    large, deep = "x" * limits.HUB_MESSAGE_BYTES, "[" * limits.HUB_MESSAGE_NESTING + "]" * limits.HUB_MESSAGE_NESTING
    for content, reason in ((f'"{large}"', "bytes"), (deep, "nested"), ('{"__proto__": 1}', "__proto__")):
        sending = rig.send()
        await settled()
        id_ = port.calls[-1].id
        text = json.dumps(to_hub(ToolAnswer(id_, {"content": "here"}), form)).replace('"here"', content)
        other.received(text)
        port.received(text.replace(id_, "unknown"))
        await settled()
        assert not sending.done()
        port.received(text)
        found = await sending
        assert found.result is None
        assert reason in found.error
    assert rig.transport.pending == 0


@pytest.mark.parametrize("text", ["{", "[" * 1000, '{"type": "register-tools"}', '{"__proto__": {}}', "5", '"\\ud800"'])
async def test_a_malformed_message_is_logged_and_the_next_one_is_heard(rig: Rig, text: str) -> None:
    port = rig.port()
    port.received(text)
    port.registers(tool("add"))
    assert len(rig.heard) == 1


async def test_what_a_listener_raises_ends_nothing(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    def fail(tab: int, listed: ToolList) -> None:
        raise RuntimeError("no")

    rig.transport.on_list(fail)
    port = rig.port().registers()
    sending = rig.send()
    await settled()
    port.answers(FIVE)
    assert (await sending).result == FIVE
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_keep_alive_and_other_messages_are_ignored(rig: Rig) -> None:
    port = rig.port()
    for message in ({"type": "keep-alive", "timestamp": 1}, {"type": "get-tools"}, {"jsonrpc": "2.0", "method": "x/y"}):
        port.says(message)
    assert rig.heard == []
    assert port.open


async def test_one_tab_cannot_have_any_number_of_calls(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PENDING_CALLS", 2)
    port, other = rig.port(), rig.port(2)
    sending = [rig.send(), rig.send()]
    await settled()
    with pytest.raises(TabBusy):
        await rig.send()
    elsewhere = rig.send(2)
    await settled()
    other.answers(FIVE)
    await elsewhere
    for number, each in enumerate(sending):
        port.answers(FIVE, number)
        await each


async def test_at_the_end_all_ports_are_closed(rig: Rig) -> None:
    ports = [rig.port(tab) for tab in range(3)]
    rig.transport.close()
    assert not any(port.open for port in ports)
    assert rig.ended == [0, 1, 2]


async def test_a_proxy_is_asked_for_its_tools(rig: Rig) -> None:
    port = rig.port(form="extension").registers()
    rig.transport.refresh(1)
    rig.transport.refresh(5)
    assert port.posted == [{"type": "request-tools-refresh"}]
