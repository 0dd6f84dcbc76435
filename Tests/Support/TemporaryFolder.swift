import Foundation

/// A folder of a test's own, removed when the test lets go of it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tickertape-test-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.path = folder.path
    }

    deinit {
        // Nothing depends on it being gone.
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// Writes a file and answers with its path.
    package func write(_ text: String, to name: String) throws -> String {
        let path = "\(self.path)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Reads a file of the folder.
    package func read(_ name: String) throws -> String { try Self.text(of: "\(self.path)/\(name)") }

    /// Reads any file.
    package static func text(of path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
}
