import Glibc

/// The recording that comes with the program, which plays when no key is set.
enum BundledRecording {
    /// The path of the recording: in an installation (`PREFIX/share`, beside `PREFIX/bin`), or in the sources above the
    /// build.
    static var path: String? {
        guard let folder = Self.programFolder else { return nil }
        return [
            "\(folder)/../share/tickertape/demo.jsonl",
            // The program is .build/TRIPLE/CONFIGURATION/tickertape.
            "\(folder)/../../../Sources/Tickertape/Resources/demo.jsonl",
        ].first { access($0, R_OK) == 0 }
    }

    private static var programFolder: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/exe", &buffer, Int(PATH_MAX))
        guard count > 0 else { return nil }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }
}
