import Foundation

/// The API key of all tests, an unmistakable text that must appear in no output.
///
/// Under `scripts/test`, everything is kept that programs print and that tests write into temporary folders.
/// `scripts/leaks` then searches it, and the log of the tests, for this key.
package enum Canary {
    /// Mixed case, and characters that URLs and base64 encode. `scripts/leaks` reads the key from this line.
    package static let key = "cAnary+key/never=printed~7Q"
    /// The key as it appears in a URL's query.
    package static let percentEncoded = "cAnary%2Bkey%2Fnever%3Dprinted~7Q"

    /// Returns whether a text contains the key in any of its forms, or twelve consecutive characters of it, in upper or
    /// lower case.
    package static func occurs(in text: String) -> Bool {
        let text = text.lowercased()
        let plain = Array(Self.key.lowercased())
        let parts = (0...plain.count - 12).map { String(plain[$0..<$0 + 12]) }
        let whole = [
            Self.percentEncoded.lowercased(), Data(Self.key.utf8).base64EncodedString().dropLast(4).lowercased(),
            Self.key.lowercased().replacingOccurrences(of: "/", with: "\\/"),
        ]
        return (parts + whole).contains { text.contains($0) }
    }

    /// The folder for kept outputs; `nil` when the tests are run by hand.
    private static let folder = ProcessInfo.processInfo.environment["TICKERTAPE_TEST_OUTPUT"]

    /// Creates a file for an output that is kept.
    static func file(named name: String) -> FileHandle? {
        guard let folder = self.folder else { return nil }
        let path = "\(folder)/\(UUID().uuidString)-\(name)"
        guard FileManager.default.createFile(atPath: path, contents: nil) else { return nil }
        return FileHandle(forWritingAtPath: path)
    }

    /// Keeps a copy of the regular files in a test's folder. A named pipe is not copied, because reading it might never
    /// end.
    static func keep(folder path: String) {
        guard let folder = self.folder, let names = FileManager.default.enumerator(atPath: path) else { return }
        let copy = "\(folder)/\(UUID().uuidString)-"
        for case let name as String in names {
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
            let flat = name.replacingOccurrences(of: "/", with: "-")
            // Not by `copyItem`, which never ends where a file becomes shorter while it is copied.
            let content = try? Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
            try? content?.write(to: URL(fileURLWithPath: copy + flat))
        }
    }
}
