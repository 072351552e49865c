"""A process that serves a legacy session which lives in Redis, in turn with others: `test_redis` starts two.

What is to be done comes in a list of the worker's own: a message of the client's, or the next step of a longer work. It
is done in one transaction, which changes the session, queues what is to be written, and strikes the task off: all of
that, or nothing where another worker was faster. Then it is done once more, on the session as it is now.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any, TypeAlias

from redis import Redis, WatchError

from mcp_sansio import Dropped, Event, RequestReceived, ServerConnection
from mcp_sansio import types as t

Task: TypeAlias = dict[str, Any]

WORKERS = ("0", "1")


def other_than(worker: str) -> str:
    return WORKERS[1 - WORKERS.index(worker)]


def write_session(server: ServerConnection) -> str:
    """A session as it is kept in Redis, with the time, which goes on while it lies there."""
    now = time.time()
    return json.dumps([now, server.snapshot(now)])


def read_session(text: str) -> ServerConnection:
    """The inverse of `write_session`."""
    then, snapshot = json.loads(text)
    return ServerConnection.restore(snapshot, then)


def text_result(text: str) -> t.CallToolResult:
    return t.CallToolResult([t.TextContent(text)])


def sampling(text: str) -> t.CreateMessageRequest:
    return t.CreateMessageRequest([t.SamplingMessage("user", t.TextContent(text))], 10)


def sampled(result: Any) -> str:
    text: str = result.content.text
    return text


class Worker:
    """One of the workers, by name."""

    def __init__(self, redis: Redis, name: str) -> None:
        self.redis = redis
        self.name = name
        self.other = other_than(name)

    def run(self) -> None:
        """Do one task after the other, for ever; first the one that a worker of this name had begun."""
        tasks, taken = f"tasks:{self.name}", f"taken:{self.name}"
        while True:
            task = json.loads(self.redis.lindex(taken, 0) or self.redis.blmove(tasks, taken, 0))
            hold = task.get("hold", False)
            while not self.do(task, hold):
                self.redis.incr("conflicts")
                hold = False

    def do(self, task: Task, hold: bool) -> bool:
        """Do a task, unless the session changes meanwhile."""
        with self.redis.pipeline() as transaction:
            transaction.watch("session")
            session = transaction.get("session")
            server = read_session(session)
            events, following = self.work(server, task)
            if hold:
                self.wait_for_change(session)
            transaction.multi()
            transaction.lpop(f"taken:{self.name}")
            for event in events:
                record = [self.name, type(event).__name__, getattr(event, "id", None), len(event.violations)]
                transaction.rpush("events", json.dumps(record))
            for outgoing in server.messages_to_send():
                transaction.rpush("out", json.dumps([self.name, outgoing.text]))
            for each in following:
                transaction.rpush(f"tasks:{self.other}", json.dumps(each))
            transaction.set("session", write_session(server))  # last: what waits to be written is part of it
            try:
                transaction.execute()
            except WatchError:
                return False
            return True

    def wait_for_change(self, session: str) -> None:
        """Be too slow for sure."""
        self.redis.rpush("holding", self.name)
        while self.redis.get("session") == session:
            time.sleep(0.001)

    def work(self, server: ServerConnection, task: Task) -> tuple[list[Event], list[Task]]:
        """What happens, and the tasks that follow from it."""
        now = time.time()
        events = server.handle_timeout(now)
        match task:
            case {"message": message}:
                events += server.receive_message(message, now=now)
            case {"count": request_id, "step": step, "of": last}:
                return events, self.count(server, request_id, step, last)
            case _:
                pass  # only to see what is due
        return events, [following for event in events for following in self.serve(server, event, now)]

    def serve(self, server: ServerConnection, event: Event, now: float) -> list[Task]:
        """Answer a request, or say how to go on with it."""
        match event:
            case RequestReceived(id=id, request=t.CallToolRequest(name=tool, arguments={"it": it}) as request):
                server.log("info", f"{tool} is called", related=id)
                match tool:
                    case "echo":
                        server.respond(id, text_result(it))
                    case "count":
                        return [{"count": id, "step": 1, "of": it}]
                    case "ask" if request.input_responses is None:
                        server.request_input(id, {"it": sampling(it)}, self.name)
                    case "ask":
                        asked, answer = request.request_state, sampled(request.input_responses["it"])
                        server.respond(id, text_result(f"{asked} asked, {self.name} was told: {answer}"))
                    case "touch":
                        server.respond(id, text_result(str(server.publish(t.ResourceUpdatedNotification(it)))))
                    case _:  # "hurry"
                        server.request(sampling("silence"), timeout=it, related=id, now=now)
                        server.respond(id, text_result("asked"))
            case RequestReceived(id=id):
                server.respond(id, t.EmptyResult())
            case _:
                pass
        return []

    def count(self, server: ServerConnection, request_id: Any, step: int, last: int) -> list[Task]:
        """Get on with a count, if it is still wanted."""
        if isinstance(server.progress(request_id, step, last), Dropped):
            return []
        if step == last:
            server.respond(request_id, text_result("counted"))
            return []
        return [{"count": request_id, "step": step + 1, "of": last}]


if __name__ == "__main__":
    port, own_name = sys.argv[1:]
    with Redis(port=int(port), decode_responses=True) as connection:
        Worker(connection, own_name).run()
