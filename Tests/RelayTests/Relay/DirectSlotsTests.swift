import Glibc
import Market
import NIOCore
import Testing
import TickertapeTesting
@testable import Relay

@Suite("The direct slots of the relay's clients", .timeLimit(.minutes(1 * Patience.factor)))
struct DirectSlotsTests {
    /// A call of `left` in one `send`.
    private struct Left: Equatable {
        var index: Int
        var sent: Int
    }

    private static func send(_ bytes: ByteBuffer, _ slots: DirectSlots, over chosen: [DirectSlots.Slot]) -> [Left] {
        var left: [Left] = []
        slots.send(bytes, over: chosen) { left.append(Left(index: $0, sent: $1)) }
        return left
    }

    @Test("open slots take the bytes, closed ones are reported, and a new slot is closed")
    func takes() throws {
        let slots = DirectSlots()
        let lines = try (0..<200).map { _ in try Line() }
        let numbers = lines.map { _ in slots.make() }
        #expect(Set(numbers).count == 200 && !numbers.contains(DirectSlots.none))
        for (line, slot) in zip(lines, numbers) where slot % 3 != 0 { slots.open(slot, to: line.near) }
        let left = Self.send(ByteBuffer(string: "news"), slots, over: numbers)
        #expect(left == numbers.indices.filter { numbers[$0] % 3 == 0 }.map { Left(index: $0, sent: 0) })
        for (line, slot) in zip(lines, numbers) {
            #expect(line.read() == (slot % 3 == 0 ? [] : Array("news".utf8)))
        }
        #expect(Self.send(ByteBuffer(string: "news"), slots, over: [DirectSlots.none]) == [Left(index: 0, sent: 0)])
    }

    @Test("a full slot reports how much it took, and takes nothing more until it is opened again")
    func fills() throws {
        let slots = DirectSlots()
        let line = try Line()
        let slot = slots.make()
        let bytes = ByteBuffer(bytes: (0..<64 << 10).map { UInt8(truncatingIfNeeded: $0 / 7) })
        slots.open(slot, to: line.near)
        let left = Self.send(bytes, slots, over: [slot])
        let sent = try #require(left.first?.sent)
        #expect(left.count == 1 && sent > 0 && sent < bytes.readableBytes)
        #expect(line.read().elementsEqual(bytes.readableBytesView.prefix(sent)))
        #expect(Self.send(ByteBuffer(string: "x"), slots, over: [slot]) == [Left(index: 0, sent: 0)])
        #expect(line.read().isEmpty)
        slots.open(slot, to: line.near)
        #expect(Self.send(ByteBuffer(string: "x"), slots, over: [slot]).isEmpty)
        #expect(line.read() == Array("x".utf8))
    }

    @Test("a closed peer closes its slot, and the others get their bytes")
    func gone() throws {
        let slots = DirectSlots()
        let lines = try (0..<3).map { _ in try Line() }
        let numbers = lines.map { line in
            let slot = slots.make()
            slots.open(slot, to: line.near)
            return slot
        }
        lines[1].hangUp()
        #expect(Self.send(ByteBuffer(string: "x"), slots, over: numbers) == [Left(index: 1, sent: 0)])
        #expect(!slots.isOpen(numbers[1]))
        #expect(lines[0].read() == Array("x".utf8) && lines[2].read() == Array("x".utf8))
    }

    @Test("a slot that was given back is closed for its next owner")
    func givesBack() throws {
        let slots = DirectSlots()
        let line = try Line()
        let slot = slots.make()
        slots.open(slot, to: line.near)
        slots.giveBack(slot)
        #expect(!slots.isOpen(slot))
        #expect(slots.make() == slot)
        #expect(Self.send(ByteBuffer(string: "x"), slots, over: [slot]) == [Left(index: 0, sent: 0)])
        #expect(line.read().isEmpty)
        slots.giveBack(DirectSlots.none)
        #expect(slots.make() != DirectSlots.none)
    }

    @Test("trades stay whole and in order, between any other messages and requests")
    func keepsOrder() async throws {
        try await RelayFixture.run { fixture in
            var random = SeededGenerator(seed: 9)
            var clients: [RawClient] = []
            for _ in 1...5 { clients.append(try await fixture.tradesClient(Frames.btc)) }
            let trades = 400
            for number in 1...trades {
                fixture.feed(Frames.trade(Frames.btc, "\(number)"))
                let client = clients[Int.random(in: 0..<clients.count, using: &random)]
                switch Int.random(in: 0..<6, using: &random) {
                case 0: try await client.channel.writeAndFlush(RawClient.masked(opcode: 9, "are you there"))
                // The answer is an error that names the symbol.
                case 1: try await client.subscribe("\u{1}")
                case 2: try await client.send("nonsense")
                default: break
                }
            }
            for client in clients {
                var next = 1
                while next <= trades {
                    let frame = try await client.frame()
                    guard frame.opcode == 1, frame.text.hasPrefix(#"{"data":"#) else { continue }
                    try #require(frame.text == Frames.trade(Frames.btc, "\(next)"))
                    next += 1
                }
            }
        }
    }

    @Test("a client that reuses the descriptor of another gets none of its bytes")
    func reusesDescriptors() async throws {
        try await RelayFixture.run { fixture in
            for round in 1...20 {
                let first = try await fixture.tradesClient(Frames.btc)
                fixture.feed(Frames.trade(Frames.btc, "\(round)"))
                #expect(try await first.frame().text == Frames.trade(Frames.btc, "\(round)"))
                try await first.close()
                let second = try await fixture.tradesClient("OTHER:\(round)")
                fixture.feed(Frames.trade(Frames.btc, "\(round)"))
                fixture.feed(Frames.trade("OTHER:\(round)", "1"))
                #expect(try await second.frame().text == Frames.trade("OTHER:\(round)", "1"))
                try await second.close()
            }
        }
    }
}
