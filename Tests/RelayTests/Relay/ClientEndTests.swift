import Measurements
import NIOCore
import Testing
import TickertapeTesting
@testable import Relay

@Suite("Counts of ended clients", .timeLimit(.minutes(2 * Patience.factor)))
struct ClientEndTests {
    /// The counts that are not 0, by reason.
    private func counts(_ instruments: Instruments) -> [String: Int] {
        var text = PrometheusText()
        instruments.registry.write(to: &text)
        var counts: [String: Int] = [:]
        for line in String(buffer: text.buffer).split(separator: "\n") {
            guard let match = line.wholeMatch(of: /tickertape_relay_clients_closed_total{reason="(.*)"} (\d+)/) else {
                continue
            }
            if let count = Int(match.2), count > 0 { counts[String(match.1)] = count }
        }
        return counts
    }

    @Test("each client that has a session is counted once, by the reason of its end")
    func reasons() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.maximumWaitingBytes = 64 << 10
            $0.sendBufferBytes = 8 << 10
            $0.requestBurst = 5
        } body: { fixture in
            func ended(_ count: Int) async throws {
                // The suite's time limit bounds this loop.
                while fixture.relay.clientCount > count { try await Task.sleep(for: .milliseconds(5)) }
            }
            let leaving = try await fixture.tradesClient(Frames.btc)
            try await leaving.channel.writeAndFlush(RawClient.masked(opcode: 8, bytes: [0x03, 0xE8]))
            #expect(try await leaving.frame().closure == "1000 ")
            try await ended(0)
            let lost = try await fixture.tradesClient(Frames.btc)
            try await lost.close()
            try await ended(0)
            let violating = try await fixture.tradesClient(Frames.btc)
            try await violating.channel.writeAndFlush(RawClient.masked(opcode: 3, ""))
            #expect(try await violating.frame().closure?.hasPrefix("1002") == true)
            try await ended(0)
            let binary = try await fixture.tradesClient(Frames.btc)
            try await binary.channel.writeAndFlush(RawClient.masked(opcode: 2, "x"))
            #expect(try await binary.frame().closure == "1003 text messages only")
            let flooding = try await fixture.tradesClient(Frames.btc)
            for number in 0..<100 { try? await flooding.subscribe("X:\(number)") }
            while true {
                let frame = try await flooding.frame()
                guard let closure = frame.closure else { continue }
                #expect(closure.hasPrefix("1008 "))
                break
            }
            let slow = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await slow.read(false)
            for number in 0..<20_000 {
                fixture.feed(Frames.trade(Frames.btc, "\(number + 1)"))
                if number % 500 == 499 { try await fixture.readAll() }
            }
            try await slow.read(true)
            while true {
                guard let closure = try await slow.frame().closure else { continue }
                #expect(closure.hasPrefix("1013 too slow"))
                break
            }
            let last = try await fixture.tradesClient(Frames.btc)
            await fixture.relay.stop()
            try await last.ended()
        }
        #expect(
            self.counts(instruments) == [
                "left": 1, "lost": 1, "websocket-violation": 1, "invalid": 1, "rate-limited": 1, "too-slow": 1,
                "stopping": 1,
            ]
        )
    }
}
