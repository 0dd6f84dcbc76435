import Foundation

/// A real nats-server, of another implementation, on a port of 127.0.0.1.
package struct NATSServer {
    package let program: RunningProgram
    package let port: Int

    /// The programs to test with: those of `TICKERTAPE_NATS_SERVER`, separated by colons, one that PyPI has put beside
    /// the tests' Python, and Debian's.
    package static let programs: [String] = {
        let given = ProcessInfo.processInfo.environment["TICKERTAPE_NATS_SERVER"]?.split(separator: ":") ?? []
        let folders = ["\(RunningProgram.sources)/.build/python/bin", "/usr/bin", "/usr/sbin", "/usr/local/bin"]
        let paths = given.map(String.init) + folders.map { "\($0)/nats-server" }
        return paths.filter { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// Whether a program is of this version or later.
    package static func isProgram(_ program: String, atLeast wanted: (Int, Int, Int)) -> Bool {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["--version"]
        process.standardOutput = output
        guard (try? process.run()) != nil else { return false }
        // nats-server: v2.9.10
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let version = text.split(separator: "v").last?.split(separator: ".").compactMap { part in
            Int(part.prefix { $0.isNumber })
        }
        guard let version, version.count == 3 else { return false }
        return (version[0], version[1], version[2]) >= wanted
    }

    package static let missing = "no nats-server here: Debian's package is nats-server"

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - port: `nil` for a free one.
    ///   - configuration: the text of a configuration file, written into `folder`.
    package init(
        _ path: String,
        port: Int? = nil,
        _ arguments: [String] = [],
        configuration: String = "",
        in folder: TemporaryFolder
    ) async throws {
        let file = try folder.write(configuration, to: "server-\(UUID().uuidString).conf")
        let all = ["-a", "127.0.0.1", "-p", "\(port ?? -1)", "-c", file] + arguments
        self.program = try RunningProgram(path, all)
        let words = "Listening for client connections on 127.0.0.1:"
        guard let port = await self.program.errorText(numberBehind: words),
            await self.program.printsError(of: "Server is ready")
        else { throw NotReady(description: self.program.errors) }
        self.port = port
    }

    private struct NotReady: Error, CustomStringConvertible {
        var description: String
    }

    package var address: String { "nats://127.0.0.1:\(self.port)" }
}
