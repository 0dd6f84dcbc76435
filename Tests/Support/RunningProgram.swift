package import Foundation
import NIOConcurrencyHelpers

/// A program started by a test: what it prints, and how it ends. It is killed when the test lets go of it.
package final class RunningProgram: Sendable {
    /// How a program ended.
    package enum Ending: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    private struct State {
        var output = ""
        var errors = ""
        var ending: Ending?
        var waiters: [(isDone: @Sendable (State) -> Bool, wake: @Sendable () -> Void)] = []
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
            "XDG_RUNTIME_DIR": self.home.path,
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
        let open = NIOLockedValueBox(3)
        // The end is told when both pipes are read to their ends, so that nothing printed last is missed.
        let closed: @Sendable () -> Void = { [weak self] in
            let isLast = open.withLockedValue { count -> Bool in
                count -= 1
                return count == 0
            }
            guard isLast, let self else { return }
            let ending: Ending =
                process.terminationReason == .exit
                ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
            self.change { $0.ending = ending }
        }
        process.terminationHandler = { _ in closed() }
        try process.run()
        Self.read(output, keep: keptOutput, closed: closed) { [weak self] text in self?.change { $0.output += text } }
        Self.read(errors, keep: keptErrors, closed: closed) { [weak self] text in self?.change { $0.errors += text } }
    }

    /// Reads a pipe to its end on a thread of its own.
    ///
    /// Not with `readabilityHandler`: that leaves its descriptor with libdispatch for a moment after the end, and where the
    /// next program's pipe gets the same number meanwhile, its end may never be told.
    private static func read(
        _ pipe: Pipe,
        keep: FileHandle?,
        closed: @escaping @Sendable () -> Void,
        take: @escaping @Sendable (String) -> Void
    ) {
        Thread.detachNewThread {
            while true {
                let data = pipe.fileHandleForReading.availableData
                if data.isEmpty { break }
                try? keep?.write(contentsOf: data)
                take(String(decoding: data, as: UTF8.self))
            }
            closed()
        }
    }

    deinit {
        if self.process.isRunning { kill(self.process.processIdentifier, SIGKILL) }
        self.home.remove()
    }

    package var output: String { self.state.withLockedValue { $0.output } }
    package var errors: String { self.state.withLockedValue { $0.errors } }

    package var processIdentifier: Int32 { self.process.processIdentifier }

    package func send(signal number: Int32) { kill(self.process.processIdentifier, number) }

    /// Waits for the end; `nil` if it does not come within the limit.
    package func ending(atMost limit: Duration = .seconds(60)) async -> Ending? {
        await self.waits(atMost: limit) { $0.ending != nil }
        return self.state.withLockedValue { $0.ending }
    }

    /// Waits until standard error holds `text`, or the program has ended, and answers whether it does.
    package func complains(of text: String, atMost limit: Duration = .seconds(60)) async -> Bool {
        await self.waits(atMost: limit) { $0.errors.contains(text) || $0.ending != nil }
        return self.errors.contains(text)
    }

    /// Waits until standard output has at least `count` lines, or the program has ended, and answers with the lines.
    package func lines(_ count: Int, atMost limit: Duration = .seconds(60)) async -> [String] {
        await self.waits(atMost: limit) { $0.output.utf8.count(where: { $0 == 10 }) >= count || $0.ending != nil }
        return self.output.split(separator: "\n").map(String.init)
    }

    /// The port that the program says its relay has.
    package func relayPort() async -> Int? {
        guard await self.complains(of: "the relay is on ws://127.0.0.1:") else { return nil }
        return Self.number(in: self.errors, behind: "the relay is on ws://127.0.0.1:")
    }

    /// The first number behind a text.
    package static func number(in text: String, behind prefix: String) -> Int? {
        guard let range = text.range(of: prefix) else { return nil }
        return Int(text[range.upperBound...].prefix { $0.isNumber })
    }

    private func waits(atMost limit: Duration, until isDone: @escaping @Sendable (State) -> Bool) async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.state.withLockedValue { state in
            if isDone(state) {
                continuation.yield()
            } else {
                state.waiters.append((isDone, { continuation.yield() }))
            }
        }
        let timer = Task {
            try await Task.sleep(for: limit * Patience.factor)
            continuation.yield()
        }
        defer { timer.cancel() }
        for await _ in stream { return }
    }

    private func change(_ change: (inout State) -> Void) {
        self.state.withLockedValue { state in
            change(&state)
            let waiters = state.waiters
            state.waiters = waiters.filter { !$0.isDone(state) }
            for waiter in waiters where waiter.isDone(state) { waiter.wake() }
        }
    }
}
