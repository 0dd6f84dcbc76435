import NIOConcurrencyHelpers
import Platform
import Recordings
import Testing
import TickertapeTesting

@Suite("The queue of work on files")
struct DiskQueueTests {
    @Test("does one piece after the other, in order, on a thread of its own")
    func order() async {
        let queue = DiskQueue("test")
        let done = NIOLockedValueBox<[Int]>([])
        for number in 0..<1_000 { queue.submit { done.withLockedValue { $0.append(number) } } }
        #expect(
            await queue.answer(within: .seconds(60 * Patience.factor)) { done.withLockedValue { $0 } }
                == Array(0..<1_000)
        )
    }

    @Test("lets nobody wait for a disk that hangs, and does all of it when that goes on")
    func hangs() async {
        let queue = DiskQueue("test")
        let disk = HangingDisk()
        disk.hang()
        let done = NIOLockedValueBox(0)
        for _ in 0..<3 {
            let answer: Void? = await queue.answer(within: .milliseconds(10)) {
                disk.wait()
                done.withLockedValue { $0 += 1 }
            }
            #expect(answer == nil)
        }
        #expect(done.withLockedValue { $0 } == 0 && disk.waitingThreads <= 1)
        disk.goOn()
        #expect(await queue.answer(within: .seconds(60 * Patience.factor)) { done.withLockedValue { $0 } } == 3)
    }

    @Test("does what it was given though nobody has it any more")
    func abandoned() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        do {
            let queue = DiskQueue("test")
            for number in 0..<3 { queue.submit { continuation.yield(number) } }
            queue.submit { continuation.finish() }
        }
        #expect(await stream.reduce(into: []) { $0.append($1) } == [0, 1, 2])
    }
}
