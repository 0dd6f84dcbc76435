import Foundation

/// A folder of a test's own, for its files; it is there until it is removed.
package struct TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tickertape-test-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        self.path = folder.path
    }

    /// Removes the folder and what is in it.
    package func remove() {
        Canary.keep(folder: self.path)
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
