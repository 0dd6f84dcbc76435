import Foundation

/// The command line tool `nats` (github.com/nats-io/natscli), by whose commands the documentation of NATS has its
/// examples.
package struct NATSTool: Sendable {
    /// The programs to test with: those of `TICKERTAPE_NATS_TOOL`, separated by colons, an installed one, and the one of
    /// `Tests/Clients/NATS`, which has the same commands on the Go client of NATS' authors.
    package static let programs: [String] = {
        let given = ProcessInfo.processInfo.environment["TICKERTAPE_NATS_TOOL"]?.split(separator: ":") ?? []
        let folders = ["/usr/bin", "/usr/local/bin", "\(RunningProgram.sources)/.build/go"]
        let paths = given.map(String.init) + folders.map { "\($0)/nats" }
        return paths.filter { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    package static let missing =
        "no nats tool or no nats-server here: scripts/test makes the first, Debian has the second"

    private let path: String
    private let arguments: [String]

    /// - Parameter options: what says who the tool is, such as `--creds` and a file.
    package init(_ path: String, server: String, _ options: [String] = []) {
        self.path = path
        self.arguments = ["--server", server] + options
    }

    /// Starts a command.
    package func start(_ command: String...) throws -> RunningProgram { try self.start(command) }

    private func start(_ command: [String]) throws -> RunningProgram {
        // It looks for its contexts there.
        let home = FileManager.default.temporaryDirectory.path
        return try RunningProgram(self.path, self.arguments + command, environment: ["HOME": home])
    }

    /// Runs a command, and returns all that it prints; throws that if it fails.
    @discardableResult
    package func run(_ command: String...) async throws -> String {
        let program = try self.start(command)
        let ending = await program.ending()
        // It prints headers on standard error.
        let printed = program.output + program.errors
        guard ending == .exit(0) else { throw Failed(description: printed) }
        return printed
    }

    package struct Failed: Error, CustomStringConvertible {
        package var description: String
    }
}
