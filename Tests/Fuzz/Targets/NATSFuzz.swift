import NATS
import NIOCore

/// The rules for a client of NATS whose server sends arbitrary bytes.
enum NATSFuzz {
    private static let info = #"INFO {"server_id":"NA","version":"2.9.10","headers":true,"max_payload":1048576}"#

    static let seeds: [[UInt8]] =
        [
            "\(info)\r\nPONG\r\nMSG a.b 1 5\r\nhello\r\nPING\r\nMSG a.c 1 a.b 0\r\n\r\n",
            "\(info)\r\nPING\r\nPONG\r\nHMSG a.b 1 23 30\r\nNATS/1.0\r\nHeader: X\r\n\r\nPAYLOAD\r\n",
            "\(info)\r\nPONG\r\nHMSG _INBOX.T.2 3 16 16\r\nNATS/1.0 503\r\n\r\n\r\nMSG _INBOX.T.2 3 2\r\nok\r\n",
            #"INFO {"connect_urls":["10.0.0.1:4222","[::1]:5"],"ldm":true,"nonce":"x","tls_available":true}"#
                + "\r\nPONG\r\nINFO {\"connect_urls\":[]}\r\nMSG a 1 1\r\n\n\r\n",
            "\(info)\r\n+OK\r\n-ERR 'Authorization Violation'\r\n",
            "\(info)\r\nPONG\r\n-ERR 'Permissions Violation for Publish to \"x.y\"'\r\n-ERR 'Stale Connection'\r\n",
            "\(info)\r\nPONG\r\nHMSG a.b 1 4 5\r\nHTTPx\r\nHMSG _INBOX.T.2 3 4 4\r\nHTTP\r\nPING\r\n",
            "INFO {\"tls_required\":true}\r\nPONG\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
        ].map { Array($0.utf8) }

    static let words: [[UInt8]] =
        [
            "\r\n", "\n", "\r", " ", "\t", "MSG ", "HMSG ", "INFO {", "PING\r\n", "PONG\r\n", "+OK\r\n", "-ERR '", "'",
            "a.b", "_INBOX.T.2", " 1 ", " 3 ", "0", "-1", "99999999999999999999", "1048577", "NATS/1.0", " 503", ": ",
            "\r\n\r\n", "\"max_payload\":", "\"ldm\":true,", "\"connect_urls\":[", "\"a:1\",", "Slow Consumer", "ping",
        ].map { Array($0.utf8) } + [[0x00], [0xC3], [0xFF]]

    /// What a client has made of the bytes.
    private struct Outcome: Equatable {
        var operations: [ServerOperation] = []
        var violation: NATSViolation?
        var actions: [NATSMachine.Action] = []
    }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let whole = try Self.converse([input])
        let cut = try Self.converse(input.pieces)
        try FuzzFinding.require(whole == cut, "whole it is \(whole), in pieces \(cut)")
        return whole.actions.contains { action in
            switch action {
            case .deliver, .answer(_, .success): true
            case .connect, .startTLS, .send, .answer, .flushed, .report, .close: false
            }
        }
    }

    private static func converse(_ pieces: [[UInt8]]) throws(FuzzFinding) -> Outcome {
        let now = NIODeadline.uptimeNanoseconds(0)
        var parser = ServerOperationParser()
        var machine = NATSMachine(
            NATSSettings(servers: [ServerAddress(host: "a")]),
            inboxToken: "T",
            chance: 0
        )
        var outcome = Outcome()
        if let pattern = NATSPattern("a.>") { _ = try? machine.subscribe(pattern) }
        _ = machine.start(now: now)
        _ = machine.opened(as: nil, now: now)
        var isAsked = false
        var open = true
        reading: for piece in pieces {
            parser.take(ByteBuffer(bytes: piece))
            while open {
                do throws(NATSViolation) {
                    guard let operation = try parser.next() else { continue reading }
                    outcome.operations.append(operation)
                    outcome.actions += machine.received(operation, now: now, chance: 0.5)
                } catch {
                    outcome.violation = error
                    outcome.actions += machine.violated(error, now: now, chance: 0.5)
                }
                if machine.connection != nil, !isAsked, let subject = NATSSubject("x.y") {
                    isAsked = true
                    let asked = try? machine.request(
                        subject,
                        payload: ByteBuffer(),
                        token: "2",
                        within: .seconds(1),
                        now: now
                    )
                    outcome.actions += asked?.1 ?? []
                }
                open = outcome.violation == nil && !outcome.actions.contains(.close)
            }
            break
        }
        outcome.actions += machine.readCompleted(now: now, chance: 0.5)
        // A request has exactly one answer: here at the latest.
        outcome.actions += machine.stop()
        let answers = outcome.actions.count { if case .answer = $0 { true } else { false } }
        let requests = outcome.actions.count { action in
            if case .send(let bytes) = action { String(buffer: bytes).contains("PUB x.y ") } else { false }
        }
        try FuzzFinding.require(answers == requests, "\(requests) requests have \(answers) answers")
        try FuzzFinding.require(machine.deadline == nil, "a stopped client waits for a time")
        return outcome
    }
}
