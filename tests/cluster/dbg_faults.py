import sys; sys.path.insert(0,'/work/main/tests/cluster')
from cluster_faults import *
import cluster_faults as cf
@pytest.fixture(scope="module")
def expected(): return {}
def dump(crawl):
    db = DataFolder(crawl.first).read()
    print(time.time())
    for q in ("SELECT * FROM workers","SELECT site_id,part,owner,token,ready_at,not_before FROM parts","SELECT * FROM addresses","SELECT name,known,fetched,not_before,wait_reason,trouble FROM sites","SELECT site_id, COUNT(*) FROM queue GROUP BY 1","SELECT key,value FROM meta WHERE key<>'settings'", "SELECT pid,state,wait_event,query_start,left(query,100) FROM pg_stat_activity WHERE application_name LIKE 'gossamer%'"):
        print(q)
        for r in db.execute(q): print("   ",r)
    db.close()
@pytest.mark.parametrize("n", range(8))
def test_dies(crawl, server, expected, n):
    crawl.wait_for_requests(60)
    server.kill()
    time.sleep(LEASE + 2)
    server.start()
    t=time.time()
    for i in range(20):
        time.sleep(2)
        if not crawl.head.is_running: break
    print("after", time.time()-t, crawl.head.is_running)
    dump(crawl)
    for s,r in crawl.log().sites().items(): print(s,len(r),r[-1].arrived-t)
    import subprocess
    assert not crawl.head.is_running
    assert len(pages_of(crawl.first))==480
