import HTTP
import NIOCore
import NIOHTTP1
import Page

/// The answer with one file of the page at `/`, from memory.
///
/// The page shows texts of the upstream. Its policy therefore allows only these files to run and load, and connections
/// only to the relay that served them (Content Security Policy Level 3).
struct PageAnswer: Sendable {
    private let body: ByteBuffer
    private let tag: EntityTag
    private let contentType: String

    /// All files, by path.
    static let all = Dictionary(uniqueKeysWithValues: PageFiles.all.map { ($0.path, PageAnswer($0)) })

    init(_ file: PageFile) {
        self.body = ByteBuffer(bytes: file.bytes)
        self.tag = EntityTag(of: self.body)
        self.contentType = file.contentType
    }

    /// Returns the file, or only its tag if the client already has this version.
    func answer(to head: HTTPRequestHead) -> HTTPAnswer {
        // Revalidated for each request, so that no part of the old page stays after an update of the program.
        var headers: HTTPHeaders = ["ETag": self.tag.text, "Cache-Control": "no-cache"]
        headers.add(contentsOf: Self.protection(host: head.headers.first(name: "Host")))
        if self.tag.isNamed(in: head) { return HTTPAnswer(status: .notModified, headers: headers) }
        headers.add(name: "Content-Type", value: self.contentType)
        return HTTPAnswer(headers: headers, body: self.body)
    }

    /// Returns the headers that restrict the browser.
    ///
    /// - Parameter host: the request's `Host`, which has passed the gate and so is one of our names. Browsers differ in
    ///   whether `'self'` includes WebSockets, so their addresses are listed.
    private static func protection(host: String?) -> HTTPHeaders {
        let sockets = host.map { " ws://\($0) wss://\($0)" } ?? ""
        let policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'\(sockets); "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
            + "trusted-types 'none'"
        return [
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        ]
    }
}
