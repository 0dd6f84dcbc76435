import Market
import NIOCore
import Testing
import Wire
@testable import MockUpstream

/// The faults of a connection in a venue's dialect.
@Suite("A venue's faults")
struct VenueFaultTests {
    private static func faults(_ texts: String..., on upstream: any MockProtocol) throws -> ConnectionFaults {
        var faults = try FaultPlan(parsing: texts, seed: 3).connection(1)
        faults.webSocketOpened(now: 0, as: upstream)
        return faults
    }

    private static func frames(_ count: Int, of upstream: any MockProtocol) throws -> [ByteBuffer] {
        var symbols = SymbolTable()
        let interned = symbols.intern("\(Venue(rawValue: "\(upstream.dialect.name)")?.prefix ?? "")A-B")
        let symbol = try #require(interned)
        let price = try #require(ExactDecimal(significand: 5, exponent: -1))
        return (1...count).flatMap { id in
            let trade = Trade(price: price, size: price, exchangeTime: 1_000_000, symbol: symbol, id: UInt64(id))
            return upstream.encode([trade], symbols: symbols)
        }
    }

    private static func sent(_ frames: [ByteBuffer], through faults: inout ConnectionFaults) -> [ByteBuffer] {
        var sent: [ByteBuffer] = []
        for frame in frames {
            switch faults.frameWritten(frame, now: 1) {
            case .pass: sent.append(frame)
            case .texts(let texts): sent += texts
            case .cut: Issue.record("a frame was cut")
            }
        }
        return sent
    }

    static let venues: [any MockProtocol] = [BinanceMock(), CoinbaseMock(), KrakenMock()]

    @Test("withheld frames never come, and all others come in their order", arguments: 0..<3)
    func withheld(_ index: Int) throws {
        let upstream = Self.venues[index]
        var faults = try Self.faults("withhold=0.3", on: upstream)
        let frames = try Self.frames(1_000, of: upstream)
        let sent = Self.sent(frames, through: &faults)
        #expect((600...800).contains(sent.count) && faults.takeHeld().isEmpty)
        let places = Dictionary(uniqueKeysWithValues: frames.enumerated().map { ($1, $0) })
        let order = sent.compactMap { places[$0] }
        #expect(order.count == sent.count && zip(order, order.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("late frames come once, after as many others as were asked for", arguments: 0..<3)
    func late(_ index: Int) throws {
        let upstream = Self.venues[index]
        var faults = try Self.faults("late=0.1,frames=4", on: upstream)
        let frames = try Self.frames(1_000, of: upstream)
        let sent = Self.sent(frames, through: &faults) + faults.takeHeld()
        #expect(sent.count == 1_000 && Set(sent) == Set(frames) && sent != frames)
        // A late frame has at most four later ones before it.
        let places = Dictionary(uniqueKeysWithValues: frames.enumerated().map { ($1, $0) })
        let order = sent.compactMap { places[$0] }
        for (place, number) in order.enumerated() {
            #expect(order[..<place].count { $0 > number } <= 4)
        }
    }

    @Test("frames are repeated and neighbours change places in a venue's dialect, too", arguments: 0..<3)
    func repeated(_ index: Int) throws {
        let upstream = Self.venues[index]
        let frames = try Self.frames(3, of: upstream)
        var twice = try Self.faults("duplicate=1", on: upstream)
        #expect(Self.sent(frames, through: &twice) == frames.flatMap { [$0, $0] })
        var swapped = try Self.faults("reorder=1", on: upstream)
        let sent = Self.sent(frames, through: &swapped) + swapped.takeHeld()
        #expect(sent == [frames[1], frames[0], frames[2]])
    }

    @Test("other frames, such as heartbeats, are neither withheld nor late")
    func others() throws {
        var faults = try Self.faults("withhold=1", "late=1", on: KrakenMock())
        #expect(Self.sent([KrakenAnswerEncoder.heartbeat], through: &faults) == [KrakenAnswerEncoder.heartbeat])
    }

    @Test("a stalled symbol is taken out of a frame of several, whose other trades stay as they were")
    func stalled() throws {
        var faults = try Self.faults("stall=KRAKEN:XXBTZUSD", on: KrakenMock())
        func element(_ pair: String) -> String {
            #"{"symbol":"\#(pair)","side":"sell","price":83744.30,"qty":0.0004,"ord_type":"market","trade_id":1,"#
                + #""timestamp":"2026-09-25T17:48:26.844359Z"}"#
        }
        func frame(_ elements: [String]) -> ByteBuffer {
            ByteBuffer(string: #"{"channel":"trade","type":"update","data":[\#(elements.joined(separator: ","))]}"#)
        }
        let (bitcoin, ether) = (element("BTC/USD"), element("ETH/USD"))
        #expect(
            Self.sent([frame([bitcoin, ether]), frame([bitcoin])], through: &faults) == [frame([ether])]
        )
    }

    @Test("a rotation closes at its age and is announced before")
    func rotation() throws {
        var faults = try Self.faults("rotation=24h,announced=10m", on: BinanceMock())
        let hour: Int64 = 3_600_000_000_000
        #expect(faults.deadline == 24 * hour - hour / 6)
        #expect(faults.timeReached(now: 24 * hour - hour / 6) == [.announce])
        let ending = ConnectionFaults.Event.close(
            code: 1_001,
            reason: "the connection has reached its longest life"
        )
        #expect(faults.timeReached(now: 24 * hour) == [ending] && faults.deadline == nil)
        var silent = try Self.faults("rotation=1s", on: BinanceMock())
        #expect(silent.timeReached(now: 1_000_000_000) == [ending])
    }
}
