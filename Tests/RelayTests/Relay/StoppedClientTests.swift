import WebSocket
import Foundation
import NIOCore
import Relay
import Testing
import TickertapeTesting
@testable import Measurements

/// Clients whose program reads nothing any more (as with SIGSTOP) while their machine's kernel still acknowledges. The
/// sockets are real.
@Suite("Clients whose program is stopped", .timeLimit(.minutes(3 * Patience.factor)))
struct StoppedClientTests {
    enum Way: Sendable, CaseIterable {
        case plain
        case encrypted
        case socketFile
    }

    /// A frame of ten trades, about 800 bytes.
    private static func frame(_ number: Int) -> String {
        let elements = (0..<10).map { Frames.element(Frames.btc, "\(number * 10 + $0 + 1)") }
        return #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    /// Returns a client that stops reading once it has subscribed.
    private func stopped(
        _ path: String,
        _ symbol: String,
        _ fixture: RelayFixture,
        _ address: SocketAddress,
        _ below: @escaping @Sendable () -> [any ChannelHandler]
    ) async throws -> RawClient {
        let client = try await RawClient.open(path, at: address, receiveBuffer: 4 << 10, below: below)
        try await client.subscribe(symbol)
        try await fixture.settleAnswered(client)
        try await client.read(false)
        return client
    }

    @Test(
        "with a queue the client is too slow, and treated by its policy; without one it is gone",
        arguments: Way.allCases
    )
    func isSlow(way: Way) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/relay.sock"
        let instruments = Instruments()
        try await RelayFixture.run(isEncrypted: way == .encrypted, instruments: instruments) {
            $0.maximumWaitingBytes = 64 << 10
            $0.sendBufferBytes = 8 << 10
            $0.webSocket.pingInterval = .milliseconds(250)
            $0.webSocket.pongTimeout = .seconds(1)
            $0.stallTimeout = .milliseconds(1_500)
            if way == .socketFile { $0.unixSocket = path }
        } body: { fixture, below in
            let address =
                way == .socketFile ? try SocketAddress(unixDomainSocketPath: path) : fixture.address
            func count(_ type: String) -> UInt64 { instruments.refusals.all.first { $0.type == type }?.number ?? 0 }
            let closing = try await self.stopped("/?token=any", Frames.btc, fixture, address, below)
            let staying = try await self.stopped("/?overflow=latest", Frames.btc, fixture, address, below)
            let frames = 600
            // One by one, because frames that the relay reads together are offered together. All of them would be left
            // out if they exceed the limit, and a client with nothing in its queue counts as gone.
            for number in 0..<frames {
                fixture.feed(Self.frame(number))
                try await fixture.readAll()
            }
            #expect(try await fixture.waitingBytes(below: below) < 2 * (64 << 10) + 4_096, "of 480 KB for each")
            // A later client that is closed for a missing pong proves that the time for it is over for the other two as
            // well.
            for round in [1, 2] as [UInt64] {
                let quiet = try await self.stopped("/?token=any", "QUIET:QUIET", fixture, address, below)
                // The suite's time limit bounds this loop.
                while count("pong-timeout") < round { try await Task.sleep(for: .milliseconds(20)) }
                try? await quiet.close()
            }
            while try await fixture.slowClients(below: below) < 1 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(count("pong-timeout") == 2)
            try? await closing.close()

            // It continues with its queue, the count of missed trades, and new trades.
            try await staying.read(true)
            var delivered = 0
            while true {
                let text = try await staying.frameAnsweringPings().text
                if text.contains("skipped") {
                    #expect(text == #"{"type":"skipped","trades":\#((frames - delivered) * 10)}"#)
                    break
                }
                try #require(text == Self.frame(delivered))
                delivered += 1
            }
            fixture.feed(Self.frame(frames))
            let next = try await staying.frameAnsweringPings().text
            #expect(next == Self.frame(frames))
            try await fixture.settleAnswered(staying)
            #expect(count("pong-timeout") == 2)
        }
    }

    @Test("a client whose machine does not answer is gone, whatever its queue and its policy")
    func isGone() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.sendBufferBytes = 8 << 10
            $0.webSocket.pingInterval = .milliseconds(250)
            $0.webSocket.pongTimeout = .seconds(1)
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            let client = try await self.stopped("/?overflow=latest", Frames.btc, fixture, fixture.address, { [] })
            try await client.goDeaf()
            for number in 0..<600 { fixture.feed(Self.frame(number)) }
            // The suite's time limit bounds this loop.
            while fixture.relay.clientCount > 0 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(instruments.refusals.all.map(\.type) == ["pong-timeout"])
            try? await client.close()
        }
    }
}

extension RelayFixture {
    /// Returns how many clients were closed for being too slow, as `/metrics` shows it.
    fileprivate func slowClients(below: @escaping @Sendable () -> [any ChannelHandler]) async throws -> Int {
        let client = try await RawClient.connect(to: self.address, below: below)
        _ = try await client.request("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let line = try await client.rest().split(separator: "\n")
            .first { $0.hasPrefix("tickertape_slow_clients_closed_total ") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }
}
