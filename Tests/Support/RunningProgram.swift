package import Foundation
import NIOConcurrencyHelpers

/// A program started by a test: what it prints, and how it ends. It is killed, with all
/// that it started, when the test lets go of it.
package final class RunningProgram: Sendable {
    /// How a program ended.
    package enum Ending: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What a test waits for, and how far the output was looked through for it.
    private enum Wish {
        case end
        /// Standard error holds a text; looked through up to a place in it.
        case complaint([UInt8], from: Int)
        /// A whole line of standard error holds a text; looked through up to a line.
        case complaintLine([UInt8], line: Int)
        case lines(Int)
        /// So many more lines of standard output begin with a text; looked through up to a line.
        case beginnings([UInt8], missing: Int, line: Int)
    }

    private struct State {
        var output = PrintedText()
        var errors = PrintedText()
        var ending: Ending?
        var waiters: [(wish: Wish, wake: @Sendable () -> Void)] = []

        /// Whether the wish has come true; each byte that was printed is looked at once.
        func fulfils(_ wish: inout Wish) -> Bool {
            switch wish {
            case .end: return self.ending != nil
            case .lines(let count): return self.output.lineCount >= count
            case .complaint(let text, let place):
                if self.errors.contains(text, from: place) { return true }
                wish = .complaint(text, from: max(0, self.errors.bytes.count - text.count))
                return false
            case .complaintLine(let text, var line):
                while line < self.errors.lineCount {
                    if self.errors.line(line).firstRange(of: text) != nil { return true }
                    line += 1
                }
                wish = .complaintLine(text, line: line)
                return false
            case .beginnings(let text, var missing, var line):
                while missing > 0, line < self.output.lineCount {
                    if self.output.line(line).starts(with: text) { missing -= 1 }
                    line += 1
                }
                wish = .beginnings(text, missing: missing, line: line)
                return missing == 0
            }
        }

        /// Takes those out for whom there is nothing left to wait.
        mutating func takeWoken() -> [@Sendable () -> Void] {
            var woken: [@Sendable () -> Void] = []
            var rest: [(wish: Wish, wake: @Sendable () -> Void)] = []
            for var waiter in self.waiters {
                if self.fulfils(&waiter.wish) || self.ending != nil {
                    woken.append(waiter.wake)
                } else {
                    rest.append(waiter)
                }
            }
            self.waiters = rest
            return woken
        }
    }

    private let state = NIOLockedValueBox(State())
    private let process: Process
    /// Where the program keeps state and locks: never where the person who runs the tests has theirs.
    private let home: TemporaryFolder

    /// The program under test, beside the test bundle.
    package static var tickertape: String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("tickertape").path
    }

    /// The sources' top folder, found from this file.
    package static var sources: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
    }

    /// A Python with the clients of `Tests/requirements.txt`, made by `scripts/test`.
    package static var python: String { "\(self.sources)/.build/python/bin/python3" }

    /// The variables that the programs get of ours: `scripts/sanitize` names them.
    private static var passedOn: [String: String] {
        let ours = ProcessInfo.processInfo.environment
        let names = ours["TICKERTAPE_TEST_PASS"]?.split(separator: ",").map(String.init) ?? []
        return ours.filter { names.contains($0.key) }
    }

    /// Starts a program with nothing in its environment but a path and `environment`, and nothing to read but `input`.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: Pipe? = nil
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        self.home = try TemporaryFolder()
        let own = [
            "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "XDG_STATE_HOME": self.home.path,
            "XDG_RUNTIME_DIR": self.home.path, "XDG_CACHE_HOME": self.home.path,
        ]
        process.environment = own.merging(Self.passedOn) { $1 }.merging(environment) { $1 }
        if let input {
            process.standardInput = input
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        self.process = process
        let name = URL(fileURLWithPath: path).lastPathComponent
        let keptOutput = Canary.file(named: "\(name).out")
        let keptErrors = Canary.file(named: "\(name).err")
        let open = NIOLockedValueBox((pipes: 2, ending: Ending?.none))
        // The end is told when both pipes are read to their ends, so that nothing printed last is missed.
        let closed: @Sendable (Ending?) -> Void = { [weak self] ending in
            let told = open.withLockedValue { open -> Ending? in
                if let ending {
                    guard open.ending == nil else { return nil }
                    open.ending = ending
                } else {
                    open.pipes -= 1
                }
                return open.pipes == 0 ? open.ending : nil
            }
            if let told { self?.change { $0.ending = told } }
        }
        process.terminationHandler = { process in
            let status = process.terminationStatus
            closed(process.terminationReason == .exit ? .exit(status) : .signal(status))
        }
        try Self.withoutBlockedSignals { try process.run() }
        Self.watch(process.processIdentifier, closed: closed)
        Self.read(output, keep: keptOutput, closed: closed) { [weak self] data in self?.change { $0.output.add(data) } }
        Self.read(errors, keep: keptErrors, closed: closed) { [weak self] data in self?.change { $0.errors.add(data) } }
    }

    /// Does `body` while the thread blocks no signals, for a program begins with what is blocked where it is started.
    ///
    /// libdispatch blocks nearly all on the threads that run tests; a program that does not see to that itself would never
    /// get its SIGTERM.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// Reads a pipe to its end on a thread of its own.
    ///
    /// Not with `readabilityHandler`: that leaves its descriptor with libdispatch for a moment after the end, and where the
    /// next program's pipe gets the same number meanwhile, its end may never be told.
    private static func read(
        _ pipe: Pipe,
        keep: FileHandle?,
        closed: @escaping @Sendable (Ending?) -> Void,
        take: @escaping @Sendable (Data) -> Void
    ) {
        Thread.detachNewThread {
            while true {
                let data = pipe.fileHandleForReading.availableData
                if data.isEmpty { break }
                try? keep?.write(contentsOf: data)
                take(data)
            }
            closed(nil)
        }
    }

    /// Waits for the program's end on a thread of its own, and leaves it to Foundation to collect it.
    ///
    /// Foundation alone now and then misses an end; the first of both to notice it counts.
    private static func watch(_ process: Int32, closed: @escaping @Sendable (Ending?) -> Void) {
        Thread.detachNewThread {
            var information = siginfo_t()
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0 {
                // Collected already.
                guard errno == EINTR else { return }
            }
            let status = information._sifields._sigchld.si_status
            closed(information.si_code == Int32(CLD_EXITED) ? .exit(status) : .signal(status))
        }
    }

    deinit {
        // Foundation gives it a process group of its own, in which are also those that it started and left behind.
        kill(-self.process.processIdentifier, SIGKILL)
        self.home.remove()
    }

    package var output: String { self.state.withLockedValue { $0.output.text } }
    package var errors: String { self.state.withLockedValue { $0.errors.text } }

    package var processIdentifier: Int32 { self.process.processIdentifier }

    package func send(signal number: Int32) { kill(self.process.processIdentifier, number) }

    /// Waits for the end; `nil` if it does not come within the limit.
    package func ending(atMost limit: Duration = .seconds(60)) async -> Ending? {
        await self.waits(for: .end, atMost: limit)
        return self.state.withLockedValue { $0.ending }
    }

    /// Waits until standard error holds `text`, or the program has ended, and returns whether it does.
    package func complains(of text: String, atMost limit: Duration = .seconds(60)) async -> Bool {
        await self.waits(for: .complaint(Array(text.utf8), from: 0), atMost: limit)
    }

    /// Waits until standard output has at least `count` lines, or the program has ended, and answers with the lines.
    package func lines(_ count: Int, atMost limit: Duration = .seconds(60)) async -> [String] {
        await self.waits(for: .lines(count), atMost: limit)
        return self.output.split(separator: "\n").map(String.init)
    }

    /// Waits until so many lines of standard output begin with `text`, or the program has ended, and returns whether they do.
    package func prints(_ text: String, times: Int = 1, atMost limit: Duration = .seconds(60)) async -> Bool {
        await self.waits(for: .beginnings(Array(text.utf8), missing: times, line: 0), atMost: limit)
    }

    /// The port that the program says its relay has.
    package func relayPort() async -> Int? { await self.complaint(numberBehind: "the relay is on ws://127.0.0.1:") }

    /// The number behind a text in standard error, once the whole line is there: a read may end amid the digits.
    package func complaint(numberBehind prefix: String, atMost limit: Duration = .seconds(60)) async -> Int? {
        guard await self.waits(for: .complaintLine(Array(prefix.utf8), line: 0), atMost: limit) else { return nil }
        return Self.number(in: self.errors, behind: prefix)
    }

    /// The first number behind a text.
    package static func number(in text: String, behind prefix: String) -> Int? {
        guard let range = text.range(of: prefix) else { return nil }
        return Int(text[range.upperBound...].prefix { $0.isNumber })
    }

    /// Waits for the wish, the program's end or the limit, and returns whether the wish has come true.
    @discardableResult
    private func waits(for wish: Wish, atMost limit: Duration) async -> Bool {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.change { $0.waiters.append((wish, { continuation.yield() })) }
        let timer = Task {
            try await Task.sleep(for: limit * Patience.factor)
            continuation.yield()
        }
        defer { timer.cancel() }
        for await _ in stream { break }
        var wish = wish
        return self.state.withLockedValue { $0.fulfils(&wish) }
    }

    private func change(_ change: (inout State) -> Void) {
        let woken = self.state.withLockedValue { state in
            change(&state)
            return state.takeWoken()
        }
        for wake in woken { wake() }
    }
}
