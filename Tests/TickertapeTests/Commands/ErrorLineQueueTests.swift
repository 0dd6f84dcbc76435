import Glibc
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite("Queue of lines for standard error", .timeLimit(.minutes(1 * Patience.factor)))
struct ErrorLineQueueTests {
    /// A pipe for 4,096 bytes that is read only when the test asks for it.
    private final class SmallPipe {
        let output: Int32
        let input: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            (self.output, self.input) = (ends[0], ends[1])
            // F_SETPIPE_SZ (fcntl(2)), which Swift's Glibc does not have.
            try #require(fcntl(self.input, 1_031, 4_096) == 4_096)
        }

        deinit {
            close(self.output)
            close(self.input)
        }

        /// Waits until it takes no more.
        func fills() async throws {
            while true {
                var polled = pollfd(fd: self.input, events: Int16(POLLOUT), revents: 0)
                if poll(&polled, 1, 0) == 0 { return }
                try await Task.sleep(for: .milliseconds(2))
            }
        }

        /// Reads so many bytes.
        func read(_ count: Int) -> String {
            var all: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 4_096)
            while all.count < count, case let count = Glibc.read(self.output, &part, part.count), count > 0 {
                all += part[..<count]
            }
            return String(decoding: all, as: UTF8.self)
        }
    }

    @Test("keeps the order, drops what does not fit, and says how much at the place where it was")
    func order() async throws {
        let pipe = try SmallPipe()
        let queue = try ErrorLineQueue(ErrorOutput(descriptor: pipe.input), capacity: 1_000)
        let first = String(repeating: "x", count: 8_191) + "\n"
        queue.append(.text(first))
        try await pipe.fills()
        let lines = (100..<250).map { "line \($0) \n" }
        for line in lines { queue.append(.text(line)) }
        #expect(await !queue.flush(within: .milliseconds(20)))
        let note = "tickertape: 50 lines of the log were left out; standard error was not read fast enough\n"
        let expected = first + lines[..<100].joined() + note
        #expect(pipe.read(expected.utf8.count) == expected)
        #expect(await queue.flush(within: .seconds(30 * Patience.factor)))
        queue.append(.text("and on\n"))
        #expect(await queue.flush(within: .seconds(30 * Patience.factor)))
        #expect(pipe.read(1) == "and on\n")
    }

    @Test("takes a line that is longer than the queue, and writes all before a flush returns")
    func long() async throws {
        let pipe = try SmallPipe()
        let queue = try ErrorLineQueue(ErrorOutput(descriptor: pipe.input), capacity: 10)
        queue.append(.text("a line that is longer than the queue\n"))
        #expect(await queue.flush(within: .seconds(30 * Patience.factor)))
        #expect(pipe.read(1) == "a line that is longer than the queue\n")
    }
}
