import Foundation

/// The key that all tests use: unmistakable, and in no output whatever.
///
/// `scripts/test` has everything kept that programs print under test and that they write into temporary folders, and
/// `scripts/leaks` looks through it, and through the log of the tests, when they are over.
package enum Canary {
    /// Mixed case, and characters that have other forms in a URL and in base64. `scripts/leaks` reads it from this line.
    package static let key = "cAnary+key/never=printed~7Q"
    /// The same as it stands in a URL's query.
    package static let percentEncoded = "cAnary%2Bkey%2Fnever%3Dprinted~7Q"

    /// Whether a text holds the key in any of its forms, or twelve characters of it in a row, in any case of letters.
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

    /// Where outputs are kept; nowhere when the tests are run by hand.
    private static let folder = ProcessInfo.processInfo.environment["TICKERTAPE_TEST_OUTPUT"]

    /// Makes a new file to keep an output in.
    static func file(named name: String) -> FileHandle? {
        guard let folder = self.folder else { return nil }
        let path = "\(folder)/\(UUID().uuidString)-\(name)"
        guard FileManager.default.createFile(atPath: path, contents: nil) else { return nil }
        return FileHandle(forWritingAtPath: path)
    }

    /// Keeps a copy of what a test leaves in its folder: of its files, for a named pipe would never be read to its end.
    static func keep(folder path: String) {
        guard let folder = self.folder, let names = FileManager.default.enumerator(atPath: path) else { return }
        let copy = "\(folder)/\(UUID().uuidString)-"
        for case let name as String in names {
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
            let flat = name.replacingOccurrences(of: "/", with: "-")
            try? FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: copy + flat)
        }
    }
}
