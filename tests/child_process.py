"""Calls in a process of their own, which may be killed, crash or run out of memory."""

from multiprocessing import get_context


def _send(connection, function, args):
    connection.send(function(*args))


def in_child(function, *args):
    """Call in a fresh process; a crash there is an EOFError here."""
    spawn = get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    child = spawn.Process(target=_send, args=(sender, function, args))
    child.start()
    sender.close()
    try:
        assert receiver.poll(120), "no result within two minutes"
        return receiver.recv()
    finally:
        child.kill()
        child.join()
