fn main() {
    let mut roots = std::env::args().skip(1);
    let mut scan = tool_gen::scan(roots.next().unwrap());
    for r in roots {
        scan = scan.and(r);
    }
    let s = scan.run().unwrap();
    for d in &s.diagnostics {
        eprintln!("{:?} {d}", d.severity);
    }
    print!("{}", s.manifest.to_json());
}
