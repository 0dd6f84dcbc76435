import Glibc
import NIOConcurrencyHelpers
import Platform
import Recordings
import Testing
import TickertapeTesting

@Suite("The queue of work on files")
struct WorkQueueTests {
    @Test("does one piece after the other, in order, on a thread of its own")
    func order() async {
        let queue = WorkQueue("test")
        let done = NIOLockedValueBox<[Int]>([])
        for number in 0..<1_000 { queue.submit { done.withLockedValue { $0.append(number) } } }
        #expect(
            await queue.answer(within: .seconds(60 * Patience.factor)) { done.withLockedValue { $0 } }
                == Array(0..<1_000)
        )
    }

    @Test("lets nobody wait for a disk that hangs, and does all of it when that goes on")
    func hangs() async {
        let queue = WorkQueue("test")
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
            let queue = WorkQueue("test")
            for number in 0..<3 { queue.submit { continuation.yield(number) } }
            queue.submit { continuation.finish() }
        }
        #expect(await stream.reduce(into: []) { $0.append($1) } == [0, 1, 2])
    }

    @Test("says that the system has no thread left, and does the work with the next one there is")
    func noThread() async {
        let isFull = NIOLockedValueBox(true)
        let queue = WorkQueue("test") { body in
            isFull.withLockedValue { $0 } ? EAGAIN : SystemThread.start(body)
        }
        #expect(throws: SystemCallFailure(call: "pthread_create", number: EAGAIN)) { try queue.start() }
        let done = NIOLockedValueBox<[Int]>([])
        queue.submit { done.withLockedValue { $0.append(1) } }
        isFull.withLockedValue { $0 = false }
        queue.submit { done.withLockedValue { $0.append(2) } }
        #expect(await queue.answer(within: .seconds(60 * Patience.factor)) { done.withLockedValue { $0 } } == [1, 2])
    }

    @Test("with two threads does two pieces at a time, and no more")
    func twoThreads() async {
        let queue = WorkQueue("test", threads: 2)
        let disk = HangingDisk()
        for _ in 0..<2 {
            disk.hang()
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            queue.submit {
                disk.wait()
                continuation.finish()
            }
            for number in 0..<3 { queue.submit { continuation.yield(number) } }
            var passed = stream.makeAsyncIterator()
            for number in 0..<3 { #expect(await passed.next() == number) }
            disk.goOn()
            #expect(await passed.next() == nil)
        }
        disk.hang()
        let done = NIOLockedValueBox(0)
        for _ in 0..<3 {
            queue.submit {
                disk.wait()
                done.withLockedValue { $0 += 1 }
            }
        }
        #expect(await !queue.finish(within: .milliseconds(20)))
        #expect(disk.waitingThreads <= 2 && done.withLockedValue { $0 } == 0)
        disk.goOn()
        #expect(await queue.finish(within: .seconds(60 * Patience.factor)))
        #expect(done.withLockedValue { $0 } == 3)
    }
}
