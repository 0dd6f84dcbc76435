import NIOCore
import Testing
@testable import WebSocket

@Suite struct KeepaliveMachineTests {
    private func seconds(_ count: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(count) }

    /// Makes a machine that starts at 0 s, with a timeout of 10 s.
    private func machine(interval: TimeAmount? = .seconds(20)) -> KeepaliveMachine {
        var machine = KeepaliveMachine(interval: interval, timeout: .seconds(10))
        machine.start(now: self.seconds(0))
        return machine
    }

    @Test("Pings go out an interval apart as long as pongs come, late timers and early ones included")
    func pingsOnInterval() {
        var machine = self.machine()
        #expect(machine.deadline == self.seconds(20))
        #expect(machine.timeReached(self.seconds(19)) == .wait)
        #expect(machine.timeReached(self.seconds(20)) == .sendPing)
        #expect(machine.deadline == self.seconds(30))
        machine.pongReceived()
        #expect(machine.deadline == self.seconds(40))
        #expect(machine.timeReached(self.seconds(30)) == .wait)
        #expect(machine.timeReached(self.seconds(47)) == .sendPing)
        #expect(machine.deadline == self.seconds(57))
    }

    @Test("A missing pong ends the connection, once")
    func endsWithoutPong() {
        var machine = self.machine()
        #expect(machine.timeReached(self.seconds(20)) == .sendPing)
        #expect(machine.timeReached(self.seconds(29)) == .wait)
        #expect(machine.timeReached(self.seconds(30)) == .end)
        #expect(machine.timeReached(self.seconds(31)) == .wait)
        #expect(machine.deadline == nil)
    }

    @Test("The wait for a pong goes on while bytes leave to a peer that reads slowly, and ends with the first pause")
    func waitsForSlowReader() {
        var machine = self.machine()
        #expect(machine.timeReached(self.seconds(20), sendProgress: SendProgress(left: 100, waiting: 900)) == .sendPing)
        for step in 1...9 {
            let sendProgress = SendProgress(left: 100 + step * 100, waiting: 900 - step * 100)
            #expect(machine.deadline == self.seconds(Int64(20 + step * 10)))
            #expect(machine.timeReached(self.seconds(Int64(20 + step * 10)), sendProgress: sendProgress) == .wait)
        }
        // All bytes have left by now, so the pong cannot be behind any.
        #expect(machine.timeReached(self.seconds(120), sendProgress: SendProgress(left: 1_000)) == .end)

        machine = self.machine()
        #expect(machine.timeReached(self.seconds(20), sendProgress: SendProgress(left: 100, waiting: 900)) == .sendPing)
        #expect(machine.timeReached(self.seconds(30), sendProgress: SendProgress(left: 101, waiting: 5_000)) == .wait)
        machine.pongReceived()
        #expect(
            machine.timeReached(self.seconds(40), sendProgress: SendProgress(left: 101, waiting: 5_000)) == .sendPing
        )
        #expect(machine.timeReached(self.seconds(50), sendProgress: SendProgress(left: 101, waiting: 6_000)) == .end)
    }

    @Test("A peer that keeps up and answers no ping is ended in time, and one that reads slowly after some megabytes")
    func endsReaderWithoutPong() {
        var machine = self.machine()
        #expect(machine.timeReached(self.seconds(20), sendProgress: SendProgress(left: 100)) == .sendPing)
        #expect(machine.timeReached(self.seconds(30), sendProgress: SendProgress(left: 9_000)) == .end)

        machine = self.machine()
        #expect(
            machine.timeReached(self.seconds(20), sendProgress: SendProgress(left: 0, waiting: 1 << 20)) == .sendPing
        )
        var now: Int64 = 20
        var left = 0
        var action = KeepaliveMachine.Action.wait
        while action == .wait, now < 1_000 {
            now += 10
            left += 1 << 20
            action = machine.timeReached(self.seconds(now), sendProgress: SendProgress(left: left, waiting: 1 << 20))
        }
        // The mebibyte before the ping, and four that both kernels may hold.
        #expect(action == .end && left == 5 << 20, "\(left)")
    }

    @Test(
        "A stopped peer is waited for while somebody watches what waits for it, and no longer than sixty times the time"
    )
    func awaitsStoppedPeer() {
        func stopped(isWatched: Bool, waiting: Int, until last: Int64) -> Int64? {
            var machine = self.machine()
            let sendProgress = SendProgress(left: 100, waiting: waiting, isWatched: isWatched)
            _ = machine.timeReached(self.seconds(20), sendProgress: sendProgress)
            return stride(from: Int64(30), through: last, by: 10).first { second in
                machine.timeReached(self.seconds(second), sendProgress: sendProgress) == .end
            }
        }
        #expect(stopped(isWatched: false, waiting: 900, until: 10_000) == 30)
        #expect(stopped(isWatched: true, waiting: 0, until: 10_000) == 30)
        #expect(stopped(isWatched: true, waiting: 900, until: 10_000) == 620)

        // The peer reads again, and the pings continue.
        var machine = self.machine()
        let sendProgress = SendProgress(left: 100, waiting: 900, isWatched: true)
        #expect(machine.timeReached(self.seconds(20), sendProgress: sendProgress) == .sendPing)
        #expect(machine.timeReached(self.seconds(30), sendProgress: sendProgress) == .wait)
        machine.pongReceived()
        #expect(machine.timeReached(self.seconds(40), sendProgress: SendProgress(left: 1_000)) == .sendPing)
        #expect(machine.timeReached(self.seconds(50), sendProgress: SendProgress(left: 1_000, isWatched: true)) == .end)
    }

    @Test("A pong that nobody asked for changes nothing")
    func toleratesUnsolicitedPong() {
        var machine = self.machine()
        machine.pongReceived()
        #expect(machine.deadline == self.seconds(20))
    }

    @Test("Without an interval there are no pings")
    func canBeOff() {
        var machine = self.machine(interval: nil)
        #expect(machine.deadline == nil)
        #expect(machine.timeReached(self.seconds(1_000)) == .wait)
    }
}

@Suite struct ClosingMachineTests {
    typealias Action = ClosingMachine.Action

    private let now = NIODeadline.uptimeNanoseconds(0)
    private func machine(_ role: WebSocketRole) -> ClosingMachine { ClosingMachine(role: role, timeout: .seconds(1)) }

    @Test("The peer's close is awaited while it takes what stands before ours, and no longer")
    func awaitsSlowReader() {
        var server = self.machine(.server)
        let close = Action(send: .closeFrame(.tryAgainLater, "slow"))
        let asked = server.closeAsked(
            .tryAgainLater,
            reason: "slow",
            now: self.now,
            sendProgress: SendProgress(left: 5, waiting: 50)
        )
        #expect(asked == close)
        #expect(
            server.timeReached(self.now + .seconds(1), sendProgress: SendProgress(left: 6, waiting: 49)) == Action()
        )
        #expect(server.deadline == self.now + .seconds(2))
        #expect(server.timeReached(self.now + .seconds(2), sendProgress: SendProgress(left: 55)) == Action())
        let end = server.timeReached(self.now + .seconds(3), sendProgress: SendProgress(left: 55))
        #expect(end.transport == .close && end.report?.cause == .closeTimedOut)
    }

    @Test("A peer that takes a byte now and then is waited for twelve times the time, and no longer")
    func endsTrickle() {
        var server = self.machine(.server)
        _ = server.closeAsked(
            .tryAgainLater,
            reason: "",
            now: self.now,
            sendProgress: SendProgress(left: 0, waiting: 1_000)
        )
        for step in 1...11 {
            let sendProgress = SendProgress(left: step, waiting: 1_000 - step)
            let action = server.timeReached(self.now + .seconds(Int64(step)), sendProgress: sendProgress)
            #expect(action == Action())
        }
        #expect(server.deadline == self.now + .seconds(12))
        let end = server.timeReached(self.now + .seconds(12), sendProgress: SendProgress(left: 12, waiting: 988))
        #expect(end.transport == .close && end.report?.cause == .closeTimedOut)
    }

    @Test("The peer's close is answered with its code; the server ends the transport, the client waits for it")
    func answersClose() {
        let report = WebSocketClosure(code: .goingAway, reason: "bye", cause: .peerClosed)
        var server = self.machine(.server)
        #expect(
            server.closeReceived(.goingAway, reason: "bye", now: self.now)
                == Action(send: .closeFrame(.goingAway, ""), transport: .closeWhenWritten, report: report)
        )
        #expect(!server.isOpen)
        var client = self.machine(.client)
        #expect(
            client.closeReceived(.goingAway, reason: "bye", now: self.now)
                == Action(send: .closeFrame(.goingAway, ""), transport: .keep, report: report)
        )
        #expect(client.deadline == self.now + .seconds(1))
        #expect(client.timeReached(self.now + .seconds(1)) == Action(transport: .close))
        #expect(client.transportEnded(locally: false) == Action())
    }

    @Test("An own close waits for its answer, and reports when it has come")
    func awaitsReply() {
        var client = self.machine(.client)
        #expect(client.closeAsked(.normal, reason: "done", now: self.now) == Action(send: .closeFrame(.normal, "done")))
        #expect(client.closeAsked(.normal, reason: "again", now: self.now) == Action())
        #expect(
            client.closeReceived(.normal, reason: "", now: self.now)
                == Action(report: WebSocketClosure(code: .normal, reason: "", cause: .locallyClosed))
        )
        #expect(client.timeReached(self.now + .seconds(2)) == Action(transport: .close))
    }

    @Test("An own close that is not answered ends at the limit")
    func timesOut() {
        var server = self.machine(.server)
        _ = server.closeAsked(.normal, reason: "", now: self.now)
        #expect(server.timeReached(self.now + .milliseconds(999)) == Action())
        #expect(
            server.timeReached(self.now + .seconds(1))
                == Action(transport: .close, report: WebSocketClosure(code: nil, reason: "", cause: .closeTimedOut))
        )
        #expect(server.transportEnded(locally: false) == Action())
    }

    @Test("A failure is told with its code, and ends only the sending side at first")
    func fails() {
        var server = self.machine(.server)
        let action = server.failed(.reservedBits, now: self.now)
        #expect(action.send == .closeFrame(.protocolError, WebSocketViolation.reservedBits.reason))
        #expect(action.transport == .closeOutput)
        #expect(action.report?.cause == .protocolViolation(.reservedBits))
        #expect(server.failed(.invalidText, now: self.now) == Action())
        #expect(server.timeReached(self.now + .seconds(1)) == Action(transport: .close))
    }

    @Test("Every way to the end reports exactly once, whatever comes in which order")
    func reportsOnce() {
        typealias Step = (inout ClosingMachine) -> Action
        let late = self.now + .seconds(5)
        let steps: [Step] = [
            { $0.closeAsked(.normal, reason: "", now: late) },
            { $0.closeReceived(nil, reason: "", now: late) },
            { $0.failed(.invalidText, now: late) },
            { $0.pongMissed() },
            { $0.timeReached(late + .seconds(9)) },
            { $0.transportEnded(locally: true) },
            { $0.transportEnded(locally: false) },
        ]
        for role in [WebSocketRole.client, .server] {
            for first in steps {
                for second in steps {
                    for third in steps {
                        var machine = self.machine(role)
                        var actions = [first, second, third].map { $0(&machine) }
                        actions.append(machine.transportEnded(locally: false))
                        #expect(actions.count { $0.report != nil } == 1)
                        let sent = actions.count { $0.send != .nothing }
                        #expect(sent <= 1)
                    }
                }
            }
        }
    }
}
