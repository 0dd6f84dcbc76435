import Glibc
import NIOConcurrencyHelpers
import Platform
import Recordings
import Testing
import TickertapeTesting

@Suite("The work queue of a thread")
struct WorkQueueTests {
    @Test("runs one job after the other, in order, on a separate thread")
    func order() async {
        let queue = WorkQueue("test")
        let done = NIOLockedValueBox<[Int]>([])
        for number in 0..<1_000 { queue.submit { done.withLockedValue { $0.append(number) } } }
        #expect(
            await queue.answer(within: .seconds(60 * Patience.factor)) { done.withLockedValue { $0 } }
                == Array(0..<1_000)
        )
    }

    @Test("blocks no caller while a disk hangs, and runs every job when it continues")
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

    @Test("runs its jobs even after the last reference to it is gone")
    func abandoned() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        do {
            let queue = WorkQueue("test")
            for number in 0..<3 { queue.submit { continuation.yield(number) } }
            queue.submit { continuation.finish() }
        }
        #expect(await stream.reduce(into: []) { $0.append($1) } == [0, 1, 2])
    }

    @Test("reports that the system has no thread left, and runs the job with the next one available")
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

    @Test("runs two jobs at a time with two threads, and no more")
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
