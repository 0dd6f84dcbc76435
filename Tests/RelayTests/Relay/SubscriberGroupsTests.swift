import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("The groups of the relay's subscribers")
struct SubscriberGroupsTests {
    /// A reader that collects what is delivered.
    final class Reader {
        var wanted: Set<String> = []
        var bytes = ByteBuffer()
        var trades: UInt64 = 0
    }

    @Test("every reader gets every trade it wants, once and in order, while readers come, change and go")
    func isExact() {
        var random = SeededGenerator(seed: 42)
        var feed = BatchSource()
        var subscribers = SubscriberGroups<Reader>()
        let names = (0..<70).map { "S\($0)" }
        let readers = (0..<20).map { _ in Reader() }
        var expected = readers.map { _ in [String]() }
        for step in 0..<600 {
            let index = Int.random(in: 0..<readers.count, using: &random)
            let wanted = Set(names.shuffled(using: &random).prefix([0, 1, 2, 70].randomElement(using: &random)!))
            readers[index].wanted = wanted
            subscribers.place(
                readers[index],
                wanting: SymbolFilter(symbols: wanted),
                slot: DirectSlots.Slot(index + 1)
            )
            if step % 7 == 0 {
                subscribers.remove(ObjectIdentifier(readers[index]))
                readers[index].wanted = []
            }

            let symbols = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                (0..<Int.random(in: 1...4, using: &random)).map { _ in names.randomElement(using: &random)! }
            }
            let frames = symbols.enumerated().map { frame in
                #"{"data":[\#(frame.element.enumerated().map { Frames.element($0.element, "\(step * 100 + frame.offset * 10 + $0.offset + 1)") }.joined(separator: ","))],"type":"trade"}"#
            }
            let queuedBatches = subscribers.queuedBatches(of: [feed.batch(frames)])
            for encodedBatch in queuedBatches {
                #expect(encodedBatch.slots == encodedBatch.members.map { Self.slot(of: $0, in: readers) })
                for reader in encodedBatch.members {
                    reader.bytes.writeImmutableBuffer(encodedBatch.bytes)
                    reader.trades += encodedBatch.trades
                }
            }
            for (index, reader) in readers.enumerated() {
                for (frame, names) in symbols.enumerated() {
                    for (place, name) in names.enumerated() where reader.wanted.contains(name) {
                        expected[index].append("\(name) \(step * 100 + frame * 10 + place + 1)")
                    }
                }
            }
        }
        for (index, reader) in readers.enumerated() {
            #expect(Self.trades(in: reader.bytes) == expected[index])
            #expect(reader.trades == UInt64(expected[index].count))
        }
    }

    @Test("readers that want the same of a batch share one buffer")
    func shares() throws {
        var feed = BatchSource()
        var subscribers = SubscriberGroups<Reader>()
        let readers = (0..<3).map { _ in Reader() }
        subscribers.place(readers[0], wanting: SymbolFilter(symbols: ["A", "B"]))
        subscribers.place(readers[1], wanting: SymbolFilter(symbols: ["A", "B"]))
        subscribers.place(readers[2], wanting: SymbolFilter(symbols: ["A", "C"]))
        let queuedBatches = subscribers.queuedBatches(of: [feed.batch([Frames.trade("A", "1")])])
        #expect(queuedBatches.map(\.members.count).sorted() == [1, 2])
        let addresses = queuedBatches.map { $0.bytes.withUnsafeReadableBytes { $0.baseAddress } }
        #expect(Set(addresses).count == 1)
    }

    @Test("nothing is encoded for a batch that no reader wants")
    func makesNothing() {
        var feed = BatchSource()
        var subscribers = SubscriberGroups<Reader>()
        let reader = Reader()
        subscribers.place(reader, wanting: SymbolFilter(symbols: ["A"]))
        #expect(subscribers.queuedBatches(of: [feed.batch([Frames.trade("B", "1")])]).isEmpty)
        subscribers.place(reader, wanting: .nothing)
        #expect(subscribers.queuedBatches(of: [feed.batch([Frames.trade("A", "1")])]).isEmpty)
    }

    private static func slot(of reader: Reader, in readers: [Reader]) -> DirectSlots.Slot {
        DirectSlots.Slot((readers.firstIndex { $0 === reader } ?? -1) + 1)
    }

    /// Parses whole server frames, and returns their trades.
    private static func trades(in bytes: ByteBuffer) -> [String] {
        var bytes = bytes
        var symbols = SymbolTable()
        var trades: [Trade] = []
        var parser = FinnhubParser()
        while let first = bytes.readInteger(as: UInt8.self), first == 0x81 {
            var length = Int(bytes.readInteger(as: UInt8.self) ?? 0)
            if length == 126 { length = Int(bytes.readInteger(as: UInt16.self) ?? 0) }
            guard let payload = bytes.readSlice(length: length) else { break }
            _ = parser.parse(payload, symbols: &symbols, into: &trades)
        }
        return trades.map { "\(symbols.name(of: $0.symbol)) \($0.price)" }
    }
}

/// The same bytes for many readers.
private struct EncodedBatch<Member> {
    var members: [Member]
    var slots: [DirectSlots.Slot]
    var bytes: ByteBuffer
    var trades: UInt64
}

extension SubscriberGroups {
    /// Encodes the batches for each group, as the fan-out of Finnhub's protocol does.
    fileprivate mutating func queuedBatches(of batches: ArraySlice<TapeBatch>) -> [EncodedBatch<Member>] {
        let present = SymbolSet(of: batches)
        var interested: [Interested] = []
        self.interested(in: batches, of: present, into: &interested)
        var encoder = FinnhubBatchEncoder(batches, present: present)
        var room = ByteBuffer()
        return interested.map { group in
            let content = encoder.content(group.wanted, whole: &room)
            return EncodedBatch(
                members: group.members,
                slots: group.slots,
                bytes: content.bytes,
                trades: content.trades
            )
        }
    }
}
