import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Sinks

@Suite("The memory of answers over HTTP")
struct AnswerMemoryTests {
    @Test("large answers have a limit together, which leaves small ones their part, and what is let go is free again")
    func bounds() {
        let memory = AnswerMemory()
        var large: [AnswerMemory.Room] = []
        while let room = memory.take(4 << 20) { large.append(room) }
        #expect(memory.bytes == 24 << 20)
        #expect(memory.take((64 << 10) + 1) == nil)
        var small: [AnswerMemory.Room] = []
        while let room = memory.take(64 << 10) { small.append(room) }
        #expect(memory.bytes == 32 << 20)
        large[0].shrink(to: 1 << 20)
        #expect(memory.bytes == 29 << 20)
        small = []
        large.removeLast()
        #expect(memory.bytes == 17 << 20)
        #expect(memory.take(7 << 20) != nil)
        large = []
        #expect(memory.bytes == 0)
    }

    @Test(
        "an answer counts as large by what is asked for",
        arguments: [
            ("/livez", 65_536), ("/v1/trades/A:B", 65_536), ("/v1/trades/A:B?limit=10000", 3_840_000),
            ("/v1/bars/A:B?width=1m&limit=1000", 384_000), ("/v1/trades/A:B?from=1&limit=%31000", 384_000),
            ("/v1/trades/A:B?limit=99999999", 3_840_000), ("/v1/tradesX?limit=10000", 65_536),
        ]
    )
    func estimates(uri: String, bytes: Int) {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri)
        #expect(AnswerBench.router.mostBytes(of: head) == bytes)
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
