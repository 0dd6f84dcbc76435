import WebSocket
import COpenSSL
import NIOCore
import Relay
import Testing
import TickertapeTesting
@testable import Measurements
@testable import TLS

/// Clients that make the relay owe them answers, and read none.
@Suite("Abuse by unread answers", .timeLimit(.minutes(5 * Patience.factor)))
struct AbuseDebtTests {
    @Test("a flood of KeyUpdate by a client that reads nothing queues little, and the client is closed in time")
    func keyUpdates() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(isEncrypted: true, instruments: instruments) {
            $0.sendBufferBytes = 8 << 10
            $0.webSocket.pingInterval = .seconds(2)
            $0.webSocket.pongTimeout = .seconds(5) * Patience.factor
        } body: { fixture, below in
            try await Bystanders.watch(fixture, below: below) {
                let rude = try await RawClient.open(at: fixture.address, receiveBuffer: 4 << 10, below: below)
                try await rude.read(false)
                try await rude.floodKeyUpdates(50_000)
                var most = 0
                // Its machine acknowledges all bytes, so only the missing pong ends it.
                while fixture.relay.clientCount > 10 {
                    most = max(most, try await fixture.waitingBytes(below: below))
                }
                #expect(most > 0 && most < 16 << 10, "\(most)")
                try? await rude.close()
            }
        }
        #expect(instruments.refusals.all.first { $0.type == "pong-timeout" }?.number == 1)
    }

    @Test(
        "a client with a full backlog of trades can unsubscribe",
        arguments: [false, true],
        ["/?token=any", "/v1/stream?delivery=all"]
    )
    func unsubscribes(isEncrypted: Bool, path: String) async throws {
        try await RelayFixture.run(isEncrypted: isEncrypted) {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .hours(1)
            $0.webSocket.pingInterval = .hours(1)
        } body: { fixture, below in
            let client = try await RawClient.open(path, at: fixture.address, receiveBuffer: 4 << 10, below: below)
            try await client.subscribe(Frames.btc)
            while !fixture.calls.all.contains(Frames.btc) { try await Task.sleep(for: .milliseconds(5)) }
            try await client.read(false)
            // Far more messages than may wait for a client.
            for start in stride(from: 0, to: 10_000, by: 500) {
                fixture.feed((start..<start + 500).map { Frames.trade(Frames.btc, "\($0)", time: $0) })
            }
            let waiting = try await fixture.waitingBytes(below: below)
            #expect(waiting > 16 << 10, "\(waiting)")
            try await client.unsubscribe(Frames.btc)
            while !fixture.calls.all.contains("-\(Frames.btc)") { try await Task.sleep(for: .milliseconds(5)) }
            try await client.close()
        }
    }

    @Test("90 answers of few trades are all sent, though each request allows 10,000")
    func smallAnswers() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            fixture.feed((0..<100).map { Frames.trade(Frames.btc, "\($0).123456", time: $0) })
            let request =
                "GET /v1/trades/\(Frames.btc)?limit=10000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            let clients = try await withThrowingTaskGroup(of: RawClient.self) { group in
                for _ in 0..<90 {
                    group.addTask {
                        let client = try await RawClient.connect(to: fixture.address)
                        #expect(try await client.request(request).hasPrefix("HTTP/1.1 200 OK"))
                        return client
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for client in clients { try? await client.close() }
        }
        #expect(instruments.refusals.all.allSatisfy { $0.number == 0 })
    }

    @Test("unread answers take 32 MiB together; then large ones are refused and small ones are sent")
    func largeAnswers() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            for start in stride(from: 0, to: 10_000, by: 1_000) {
                fixture.feed((start..<start + 1_000).map { Frames.trade(Frames.btc, "\($0).123456", time: $0) })
            }
            let request =
                "GET /v1/trades/\(Frames.btc)?limit=10000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            var clients: [RawClient] = []
            for _ in 0..<90 {
                let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
                try await client.read(false)
                try await client.channel.writeAndFlush(ByteBuffer(string: request))
                clients.append(client)
            }
            func isRefusing() -> Bool {
                instruments.refusals.all.contains { $0.type == "answers-too-large" && (1..<90).contains($0.number) }
            }
            // The relay may not have read all requests yet.
            while !isRefusing() { try await Task.sleep(for: .milliseconds(5)) }
            let alive = try await RawClient.connect(to: fixture.address)
            let head = try await alive.request("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
            let waiting = try await fixture.waitingBytes()
            #expect(waiting > 4 << 20 && waiting < 32 << 20, "\(waiting)")
            let late = try await RawClient.connect(to: fixture.address)
            let refusal = try await late.request(request)
            #expect(refusal.hasPrefix("HTTP/1.1 503") && refusal.lowercased().contains("retry-after: "), "\(refusal)")
            for client in clients { try? await client.close() }
        }
    }
}

extension RawClient {
    /// Sends a number of KeyUpdate messages that request an answer (RFC 8446, 4.6.3), without waiting for any to leave.
    fileprivate func floodKeyUpdates(_ count: Int) async throws {
        let channel = self.channel
        try await channel.eventLoop.submit {
            let handler = try channel.pipeline.syncOperations.handler(type: TLSHandler.self)
            let connection = try #require(handler.connection)
            for _ in 0..<count {
                try #require(SSL_key_update(connection.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
                try #require(SSL_do_handshake(connection.ssl) == 1)
            }
            handler.sendOutput(promise: nil)
        }.get()
    }
}
