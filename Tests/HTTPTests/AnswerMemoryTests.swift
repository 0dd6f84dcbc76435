import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting
@testable import HTTP

@Suite("The memory of answers over HTTP")
struct AnswerMemoryTests {
    @Test("large answers have a limit together, which leaves small ones their part, and what is let go is free again")
    func bounds() throws {
        let memory = AnswerMemory()
        var large: [AnswerMemory.Reservation] = []
        for _ in 0..<6 {
            let room = try #require(memory.take())
            try room.hold(4 << 20)
            large.append(room)
        }
        #expect(memory.bytes == 24 << 20)
        // A reservation that grows beyond the small size is refused, and keeps its size.
        var small = [try #require(memory.take())]
        #expect(throws: HTTPServerFailure.self) { try small[0].hold((64 << 10) + 1) }
        #expect(memory.bytes == (24 << 20) + (64 << 10))
        // More than fit, so that the test ends even if the limit does not work.
        for _ in 0..<1_000 { if let room = memory.take() { small.append(room) } }
        #expect(memory.bytes == 32 << 20)
        try large[0].hold(1 << 20)
        #expect(memory.bytes == 29 << 20)
        small = []
        large.removeLast()
        #expect(memory.bytes == 17 << 20)
        try large[0].hold(8 << 20)
        #expect(memory.bytes == 24 << 20)
        large = []
    }

    @Test("an answer takes room for as many trades as it has, whatever the most is that was asked for")
    func items() throws {
        let memory = AnswerMemory()
        let room = try #require(memory.take())
        #expect(memory.bytes == 65_536)
        try room.hold(items: 100)
        #expect(memory.bytes == 65_536)
        try room.hold(items: 10_000)
        #expect(memory.bytes == 3_840_000)
        try room.hold(1_400_000)
        #expect(memory.bytes == 1_400_000)
    }

    @Test("memory is given back some time after many connections have gone, once, and not for a few")
    func trims() {
        let loop = EmbeddedEventLoop()
        let trims = Calls()
        let heap = HeapTrim(loop: loop) { trims.add("trim") }
        for _ in 0..<100 { heap.freed(HeapTrim.connectionBytes) }
        loop.advanceTime(by: .seconds(60))
        #expect(trims.all.isEmpty)
        for _ in 0..<900 { heap.freed(HeapTrim.connectionBytes) }
        #expect(trims.all.isEmpty)
        loop.advanceTime(by: .seconds(3))
        #expect(trims.all == ["trim"])
        loop.advanceTime(by: .seconds(60))
        heap.freed(1 << 20)
        loop.advanceTime(by: .seconds(60))
        #expect(trims.all == ["trim"])
    }
}
