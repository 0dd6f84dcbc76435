import Foundation

/// A folder for a test's files, which exists until it is removed.
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

    /// Removes the folder and its contents.
    package func remove() {
        Canary.keep(folder: self.path)
        // A failure does not matter, because nothing depends on the removal.
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// Writes a file and returns its path.
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
