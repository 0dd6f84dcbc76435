import Foundation
import Glibc
import NIOConcurrencyHelpers
import TickertapeTesting

/// The `openssl` command as a TLS peer of another implementation.
final class OpenSSLCommand: Sendable {
    /// The reason why a command could not be used.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The output of the command, shared between its reader's thread and the test.
    private final class Output: Sendable {
        let state = NIOLockedValueBox((text: "", isEnded: false))
        let changed = DispatchSemaphore(value: 0)

        func take(_ data: Data) {
            self.state.withLockedValue { state in
                if data.isEmpty { state.isEnded = true } else { state.text += String(decoding: data, as: UTF8.self) }
            }
            self.changed.signal()
        }
    }

    private let process: Process
    private let input = Pipe()
    private let output = Output()

    /// Starts the command and collects its standard output and standard error.
    init(_ arguments: [String]) throws {
        self.process = Process()
        self.process.executableURL = try Self.path()
        self.process.arguments = arguments
        let pipe = Pipe()
        self.process.standardInput = self.input
        self.process.standardOutput = pipe
        self.process.standardError = pipe
        try self.process.run()
        let reader = Thread { [output] in
            var data: Data
            repeat {
                data = pipe.fileHandleForReading.availableData
                output.take(data)
            } while !data.isEmpty
        }
        reader.start()
    }

    deinit {
        self.kill()
    }

    /// Returns the path of the command; where it is missing, the error says what to install.
    private static func path() throws -> URL {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        for directory in directories {
            let path = "\(directory)/openssl"
            if FileManager.default.isExecutableFile(atPath: path) { return URL(fileURLWithPath: path) }
        }
        throw Failure(description: "this test needs the openssl command; on Debian and Ubuntu: apt-get install openssl")
    }

    /// All output so far.
    var text: String { self.output.state.withLockedValue { $0.text } }

    func send(_ text: String) throws {
        try self.input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Kills the command without a clean end.
    func kill() {
        // The tests' threads block the milder signals, and a child process inherits the mask.
        if self.process.isRunning { _ = Glibc.kill(self.process.processIdentifier, SIGKILL) }
    }

    /// Closes the command's input, so that it ends after it has processed all of it.
    func endInput() throws {
        try self.input.fileHandleForWriting.close()
    }

    /// Waits until `find` returns a value for the output. Fails after 10 s or at the command's end, with the whole
    /// output.
    func wait<Found>(for find: (String) -> Found?) throws -> Found {
        let limit = DispatchTime.now() + .seconds(10 * Patience.factor)
        while true {
            let (text, isEnded) = self.output.state.withLockedValue { $0 }
            if let found = find(text) { return found }
            guard !isEnded, self.output.changed.wait(timeout: limit) == .success else {
                throw Failure(description: "openssl did not write what was expected, but: \(text)")
            }
        }
    }

    func wait(for words: String) throws {
        _ = try self.wait { $0.contains(words) ? true : nil as Bool? } as Bool
    }

    /// Waits for the command's end; returns all output.
    func finish() throws -> String {
        let limit = DispatchTime.now() + .seconds(10 * Patience.factor)
        while !self.output.state.withLockedValue({ $0.isEnded }) {
            guard self.output.changed.wait(timeout: limit) == .success else {
                throw Failure(description: "openssl did not end after: \(self.text)")
            }
        }
        self.process.waitUntilExit()
        return self.text
    }

    /// Runs the command to its end.
    static func run(_ arguments: [String], input: String = "") throws -> String {
        let command = try OpenSSLCommand(arguments)
        try command.send(input)
        try command.endInput()
        return try command.finish()
    }
}
