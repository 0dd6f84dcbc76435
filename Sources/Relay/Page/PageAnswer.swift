import HTTP
import NIOCore
import NIOHTTP1
import Page

/// One file of the page at `/` as an answer, out of memory.
///
/// Whatever the page shows comes from upstream texts, so its policy lets nothing run and nothing load but these files, and
/// nothing be reached but the relay that served them (Content Security Policy Level 3).
struct PageAnswer: Sendable {
    private let body: ByteBuffer
    private let tag: EntityTag
    private let contentType: String

    /// All of them, by path.
    static let all = Dictionary(uniqueKeysWithValues: PageFiles.all.map { ($0.path, PageAnswer($0)) })

    init(_ file: PageFile) {
        self.body = ByteBuffer(bytes: file.bytes)
        self.tag = EntityTag(of: self.body)
        self.contentType = file.contentType
    }

    /// The file, or only its tag where the asker has the same already.
    func answer(to head: HTTPRequestHead) -> HTTPAnswer {
        // Asked anew each time: after an update of the program no part of the old page stays.
        var headers: HTTPHeaders = ["ETag": self.tag.text, "Cache-Control": "no-cache"]
        headers.add(contentsOf: Self.protection(host: head.headers.first(name: "Host")))
        if self.tag.isNamed(in: head) { return HTTPAnswer(status: .notModified, headers: headers) }
        headers.add(name: "Content-Type", value: self.contentType)
        return HTTPAnswer(headers: headers, body: self.body)
    }

    /// What the browser is told to refuse.
    ///
    /// - Parameter host: the request's `Host`, which has passed the gate, so that it is one of our names. Browsers differ
    ///   in whether `'self'` holds for WebSockets, so their addresses are spelt out.
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
