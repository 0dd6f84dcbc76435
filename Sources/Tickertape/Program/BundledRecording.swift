import Glibc

/// The recording that comes with the program, for whoever has no key.
enum BundledRecording {
    /// Its path: where an installation puts it (`PREFIX/bin` and `PREFIX/share`), or in the sources above the build.
    static var path: String? {
        guard let folder = Self.programFolder else { return nil }
        return [
            "\(folder)/../share/tickertape/demo.jsonl",
            // .build/TRIPLE/CONFIGURATION/tickertape
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
