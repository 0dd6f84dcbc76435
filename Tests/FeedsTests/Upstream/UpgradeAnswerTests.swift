import Market
import NIOCore
import NIOHTTP1
import Testing
import TickertapeTesting
@testable import Feeds
@testable import WebSocket

/// Tests of the answers that a service may give to the request for a WebSocket, as bytes on loopback.
@Suite("Answers to the upgrade", .timeLimit(.minutes(1 * Patience.factor)))
struct UpgradeAnswerTests {
    /// Returns the correct answer to a request by RFC 6455, with the given changes.
    private static func accept(_ head: String, change: (inout [String]) -> Void = { _ in }) -> String {
        let mark = "Sec-WebSocket-Key: "
        let key = head.split(separator: "\r\n").first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
        var lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(HandshakeKey.accept(for: key ?? ""))",
        ]
        change(&lines)
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func failure(
        limit: TimeAmount = .seconds(30),
        _ answer: @escaping @Sendable (String) -> RawServer.Answer
    ) async throws -> UpstreamFailure? {
        let server = try await RawServer.start(answer: answer)
        let failure = try await Attempt.run(port: server.port) { $0.dial.upgradeTimeout = limit }
        #expect(server.heads.first?.hasPrefix("GET /?token=\(Attempt.key) HTTP/1.1\r\n") == true)
        try await server.stop()
        return failure
    }

    @Test("a correct 101 opens the WebSocket")
    func accepted() async throws {
        #expect(try await self.failure { .send(Self.accept($0)) } == nil)
    }

    @Test("a 101 identifies the relay of a program like this one", arguments: ["", "nginx", "tickertape"])
    func relay(name: String) async throws {
        let server = try await RawServer.start { head in
            .send(Self.accept(head) { lines in if !name.isEmpty { lines.append("Server: \(name)") } })
        }
        #expect(try await Attempt.findsRelay(Attempt.connector(port: server.port)) == (name == "tickertape"))
        try await server.stop()
    }

    @Test("a 101 that never comes, comes too slowly or never ends fails at the limit, each with its own explanation")
    func hung() async throws {
        let limit = 300 * Patience.factor
        #expect(
            try await self.failure(limit: .milliseconds(Int64(limit))) { _ in .silence }?.description
                == "the service did not open the WebSocket within \(limit) ms: no answer came"
        )
        // Long enough for a first byte on a busy machine, but far too short for the last one.
        #expect(
            try await self.failure(limit: .milliseconds(2_500)) {
                .drip(Self.accept($0), every: .milliseconds(200))
            }?.description
                == "the service did not open the WebSocket within 2500 ms: its answer began and did not end"
        )
    }

    @Test("a header without an end fails at the size limit, before the time limit")
    func endless() async throws {
        let failure = try await self.failure { _ in .endless("X-Filler: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n")
        }
        #expect(failure == UpstreamFailure("the header of the service's answer is too large", cause: .upgrade))
    }

    static let wrongs: [(line: Int, replacement: String?, words: String)] = [
        (3, nil, "wrong Sec-WebSocket-Accept"), (3, "Sec-WebSocket-Accept: ", "wrong Sec-WebSocket-Accept"),
        (3, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "wrong Sec-WebSocket-Accept"),
        (1, nil, "Upgrade is not websocket"), (1, "Upgrade: h2c", "Upgrade is not websocket"),
        (2, "Connection: close", "Connection is not upgrade"),
        (1, "Upgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate", "an extension that was not offered"),
        (1, "Upgrade: websocket\r\nSec-WebSocket-Protocol: chat", "a subprotocol that was not offered"),
        (0, "HTTP/1.0 101 Switching Protocols", "a 101 of HTTP/1.0"), (0, "HTTP/2 101", "malformed status line"),
        (0, "SSH-2.0-OpenSSH_9.6", "malformed status line"),
        (2, "Connection : upgrade", "malformed header line"), (2, "Connection: upgrade\nX: y", "malformed line end"),
    ]

    @Test("a 101 that breaks a rule is refused with the rule", arguments: Self.wrongs)
    func wrong(line: Int, replacement: String?, words: String) async throws {
        let failure = try await self.failure { head in
            .send(
                Self.accept(head) { lines in
                    if let replacement { lines[line] = replacement } else { lines.remove(at: line) }
                }
            )
        }
        #expect(
            failure == UpstreamFailure("the service's answer is not a WebSocket handshake: \(words)", cause: .upgrade)
        )
    }

    @Test("a right Accept value beside a wrong one, or twice, is refused")
    func doubled() async throws {
        for other in ["Sec-WebSocket-Accept: AAAA", nil] {
            let failure = try await self.failure { head in
                .send(Self.accept(head) { lines in lines.append(other ?? lines[3]) })
            }
            #expect(failure?.description.hasSuffix("wrong Sec-WebSocket-Accept") == true)
        }
    }

    @Test("an end without an answer is reported as such")
    func closed() async throws {
        #expect(
            try await self.failure { _ in .close }
                == UpstreamFailure("the service closed the connection instead of opening a WebSocket", cause: .upgrade)
        )
        #expect(
            try await self.failure { _ in .sendAndClose("HTTP/1.1 101 Switching") }
                == UpstreamFailure("the service closed the connection instead of opening a WebSocket", cause: .upgrade)
        )
    }

    @Test("a refusal's headers and body determine the text and the wait")
    func refusals() async throws {
        let page = "<!doctype html>\n<html><head><title>\n 502 Bad\tGateway </title></head></html>"
        #expect(
            try await self.failure { _ in .sendAndClose("HTTP/1.1 502 Bad Gateway\r\n\r\n\(page)") }
                == UpstreamFailure(
                    "the service is down (HTTP 502: a page of HTML, \"502 Bad Gateway\")",
                    cause: .refusedStatus
                )
        )
        let busy = try await self.failure { _ in
            .send("HTTP/1.1 503 Busy\r\nRetry-After: Mon, 01 Jan 2024 00:01:30 GMT\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(busy?.description == "the service is overloaded or under repair (HTTP 503)")
        #expect(busy?.disposition == .retry)
        #expect(busy?.retryAfter == 90_000_000_000)
        let moved = try await self.failure { head in
            let target = head.split(separator: " ")[1]
            return .send(
                "HTTP/1.1 301 Moved\r\nLocation: https://key@elsewhere.test:8443\(target)\r\nContent-Length: 0\r\n\r\n"
            )
        }
        #expect(
            moved
                == UpstreamFailure(
                    "the service redirects to https://elsewhere.test:8443 (HTTP 301), which is not followed: check the "
                        + "upstream address",
                    cause: .refusedStatus
                )
        )
    }
}
