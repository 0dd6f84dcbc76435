package import Foundation
import NIOConcurrencyHelpers

/// A program started by a test, with its output and its exit. When the test releases it, it is killed together with all
/// programs that it started.
package final class RunningProgram: Sendable {
    /// The exit of a program.
    package enum Ending: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// The condition that a test waits for, and how far the output has been searched.
    private enum Expectation {
        case end
        /// Standard error contains a text; searched up to an offset.
        case errorText([UInt8], from: Int)
        /// A complete line of standard error contains a text; searched up to a line.
        case complaintLine([UInt8], line: Int)
        case lines(Int)
        /// `missing` more lines of standard output begin with a text; searched up to a line.
        case beginnings([UInt8], missing: Int, line: Int)
    }

    private struct State {
        var output = PrintedText()
        var errors = PrintedText()
        var ending: Ending?
        var waiters: [(expectation: Expectation, wake: @Sendable () -> Void)] = []

        /// Returns whether the condition is met, and notes how far the output has been searched.
        func fulfils(_ expectation: inout Expectation) -> Bool {
            switch expectation {
            case .end: return self.ending != nil
            case .lines(let count): return self.output.lineCount >= count
            case .errorText(let text, let place):
                if self.errors.contains(text, from: place) { return true }
                expectation = .errorText(text, from: max(0, self.errors.bytes.count - text.count))
                return false
            case .complaintLine(let text, var line):
                while line < self.errors.lineCount {
                    if self.errors.line(line).firstRange(of: text) != nil { return true }
                    line += 1
                }
                expectation = .complaintLine(text, line: line)
                return false
            case .beginnings(let text, var missing, var line):
                while missing > 0, line < self.output.lineCount {
                    if self.output.line(line).starts(with: text) { missing -= 1 }
                    line += 1
                }
                expectation = .beginnings(text, missing: missing, line: line)
                return missing == 0
            }
        }

        /// Removes and returns the waiters that have nothing left to wait for.
        mutating func takeWoken() -> [@Sendable () -> Void] {
            var woken: [@Sendable () -> Void] = []
            var rest: [(expectation: Expectation, wake: @Sendable () -> Void)] = []
            for var waiter in self.waiters {
                if self.fulfils(&waiter.expectation) || self.ending != nil {
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
    /// The folder for the program's state and locks, which is never the one of the user who runs the tests.
    private let home: TemporaryFolder

    /// The path of the program under test, next to the test bundle.
    package static var tickertape: String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("tickertape").path
    }

    /// The path of the top folder of the sources, relative to this file.
    package static var sources: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
    }

    /// The path of a Python with the clients of `Tests/requirements.txt`, installed by `scripts/test`.
    package static var python: String { "\(self.sources)/.build/python/bin/python3" }

    /// The environment variables passed on to programs; `scripts/sanitize` names them.
    private static var passedOn: [String: String] {
        let ours = ProcessInfo.processInfo.environment
        let names = ours["TICKERTAPE_TEST_PASS"]?.split(separator: ",").map(String.init) ?? []
        return ours.filter { names.contains($0.key) }
    }

    /// Starts a program. Its environment has only a path, folders, the variables passed on and `environment`; it reads
    /// only `input`.
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
        // The exit is reported after both pipes have been read to their ends, so that the last output is not missed.
        let closed: @Sendable (Ending?) -> Void = { [weak self] ending in
            let reported = open.withLockedValue { open -> Ending? in
                if let ending {
                    guard open.ending == nil else { return nil }
                    open.ending = ending
                } else {
                    open.pipes -= 1
                }
                return open.pipes == 0 ? open.ending : nil
            }
            if let reported { self?.change { $0.ending = reported } }
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

    /// Calls `body` while the thread blocks no signals, because a program inherits the blocked signals of its starting
    /// thread.
    ///
    /// libdispatch blocks nearly all signals on the threads that run tests. A program that does not unblock SIGTERM
    /// itself would never receive it.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// Reads a pipe to its end on a separate thread.
    ///
    /// `readabilityHandler` is not used: its descriptor stays with libdispatch for a moment after the end. If the next
    /// program's pipe gets the same number in the meantime, the end of that pipe may never be reported.
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

    /// Waits for the program's exit on a separate thread, and leaves it to Foundation to collect the process.
    ///
    /// Foundation alone sometimes misses an exit. The first of the two to notice it counts.
    private static func watch(_ process: Int32, closed: @escaping @Sendable (Ending?) -> Void) {
        Thread.detachNewThread {
            var information = siginfo_t()
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0 {
                // Already collected.
                guard errno == EINTR else { return }
            }
            let status = information._sifields._sigchld.si_status
            closed(information.si_code == Int32(CLD_EXITED) ? .exit(status) : .signal(status))
        }
    }

    deinit {
        // Foundation gives the program its own process group, which includes programs that it started and left behind.
        kill(-self.process.processIdentifier, SIGKILL)
        self.home.remove()
    }

    package var output: String { self.state.withLockedValue { $0.output.text } }
    package var errors: String { self.state.withLockedValue { $0.errors.text } }

    package var processIdentifier: Int32 { self.process.processIdentifier }

    package func send(signal number: Int32) { kill(self.process.processIdentifier, number) }

    /// Waits for the exit; `nil` if it does not occur within the limit.
    package func ending(atMost limit: Duration = .seconds(60)) async -> Ending? {
        await self.waits(for: .end, atMost: limit)
        return self.state.withLockedValue { $0.ending }
    }

    /// Waits until standard error contains `text`, or the program has exited; returns whether it contains it.
    package func printsError(of text: String, atMost limit: Duration = .seconds(60)) async -> Bool {
        await self.waits(for: .errorText(Array(text.utf8), from: 0), atMost: limit)
    }

    /// Waits until standard output has at least `count` lines, or the program has exited; returns the lines.
    package func lines(_ count: Int, atMost limit: Duration = .seconds(60)) async -> [String] {
        await self.waits(for: .lines(count), atMost: limit)
        return self.output.split(separator: "\n").map(String.init)
    }

    /// Waits until `times` lines of standard output begin with `text`, or the program has exited; returns whether they
    /// do.
    package func prints(_ text: String, times: Int = 1, atMost limit: Duration = .seconds(60)) async -> Bool {
        await self.waits(for: .beginnings(Array(text.utf8), missing: times, line: 0), atMost: limit)
    }

    /// Returns the port of the relay, from the program's output.
    package func relayPort() async -> Int? { await self.errorText(numberBehind: "the relay is on ws://127.0.0.1:") }

    /// Returns the number after a text in standard error as soon as the line is complete: a read may end within the
    /// digits.
    package func errorText(numberBehind prefix: String, atMost limit: Duration = .seconds(60)) async -> Int? {
        guard await self.waits(for: .complaintLine(Array(prefix.utf8), line: 0), atMost: limit) else { return nil }
        return Self.number(in: self.errors, behind: prefix)
    }

    /// Returns the number after the first occurrence of a text.
    package static func number(in text: String, behind prefix: String) -> Int? {
        guard let range = text.range(of: prefix) else { return nil }
        return Int(text[range.upperBound...].prefix { $0.isNumber })
    }

    /// Waits for the condition, the program's exit or the limit; returns whether the condition was met.
    @discardableResult
    private func waits(for expectation: Expectation, atMost limit: Duration) async -> Bool {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.change { $0.waiters.append((expectation, { continuation.yield() })) }
        let timer = Task {
            try await Task.sleep(for: limit * Patience.factor)
            continuation.yield()
        }
        defer { timer.cancel() }
        for await _ in stream { break }
        var expectation = expectation
        return self.state.withLockedValue { $0.fulfils(&expectation) }
    }

    private func change(_ change: (inout State) -> Void) {
        let woken = self.state.withLockedValue { state in
            change(&state)
            return state.takeWoken()
        }
        for wake in woken { wake() }
    }
}
